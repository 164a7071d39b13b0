/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "frames.h"

/* Asks and waits. Which frames the host sent ahead meanwhile stays in order. */
static struct frame *ask(uint16_t type, const struct outgoing *out, const void *tail, uint32_t tail_length,
                         uint16_t answer) {
  uint64_t request = ++worker.own_requests;
  frame_send(type, request, out, tail, tail_length);
  return frame_await(answer, request);
}

static bool state_allowed(const char *function, int32_t scope, const char *key, bool may_be_empty) {
  uint32_t during = scope == RELAY_STATE_DELIVERY ? DURING_DELIVER : DURING_WORK;
  if (!allowed(function, during)) return false;
  if (scope != RELAY_STATE_PIPELINE && scope != RELAY_STATE_DELIVERY) {
    complain("the target called %s with the unknown scope %d", function, scope);
    return false;
  }
  size_t length = key == NULL ? 0 : strnlen(key, RELAY_MAXIMUM_STATE_KEY + 1);
  if (key == NULL || length > RELAY_MAXIMUM_STATE_KEY || (length == 0 && !may_be_empty) || !text_is_key(key, length)) {
    complain("the target called %s with a key that isn't 1 to %d bytes of UTF-8 without control characters", function,
             RELAY_MAXIMUM_STATE_KEY);
    return false;
  }
  return true;
}

static int32_t state_ask(uint16_t type, int32_t scope, const char *key, const char *bytes, uint32_t length,
                         relay_text *answer) {
  struct outgoing out = {.count = 0};
  put_u32(&out, (uint32_t)scope);
  put_text(&out, key, (uint32_t)strnlen(key, RELAY_MAXIMUM_STATE_KEY));
  put_u32(&out, length);
  struct frame *frame = ask(type, &out, bytes, length, RELAY_FRAME_STATE_ANSWER);
  struct fields fields = fields_of(frame);
  int32_t code = (int32_t)field_u32(&fields);
  relay_text value = field_text(&fields);
  fields_end(&fields);
  if (code == RELAY_OK && answer != NULL) {
    const char *copy = keep(value.bytes, value.length);
    if (copy == NULL) code = RELAY_FAILED;
    else *answer = (relay_text){copy, value.length};
  }
  frame_free(frame);
  return code;
}

int32_t host_state_get(void *context, int32_t scope, const char *key, relay_text *value) {
  (void)context;
  if (!state_allowed("state_get", scope, key, false)) return RELAY_DENIED;
  return state_ask(RELAY_FRAME_STATE_GET, scope, key, NULL, 0, value);
}

int32_t host_state_put(void *context, int32_t scope, const char *key, const char *bytes, uint64_t length) {
  (void)context;
  if (!state_allowed("state_put", scope, key, false)) return RELAY_DENIED;
  if (length > RELAY_MAXIMUM_STATE_VALUE || (bytes == NULL && length > 0)) {
    complain("the target wanted to save %llu bytes; %d are the most", (unsigned long long)length,
             RELAY_MAXIMUM_STATE_VALUE);
    return RELAY_DENIED;
  }
  return state_ask(RELAY_FRAME_STATE_PUT, scope, key, bytes, (uint32_t)length, NULL);
}

int32_t host_state_delete(void *context, int32_t scope, const char *key) {
  (void)context;
  if (!state_allowed("state_delete", scope, key, false)) return RELAY_DENIED;
  return state_ask(RELAY_FRAME_STATE_DELETE, scope, key, NULL, 0, NULL);
}

int32_t host_state_next(void *context, int32_t scope, const char *after, relay_text *key) {
  (void)context;
  if (!state_allowed("state_next", scope, after, true)) return RELAY_DENIED;
  return state_ask(RELAY_FRAME_STATE_NEXT, scope, after, NULL, 0, key);
}

int32_t host_scratch(void *context, uint64_t maximum, int32_t *fd) {
  (void)context;
  if (!allowed("scratch", DURING_DELIVER | DURING_CHECK)) return RELAY_DENIED;
  struct outgoing out = {.count = 0};
  put_u64(&out, maximum);
  struct frame *frame = ask(RELAY_FRAME_SCRATCH, &out, NULL, 0, RELAY_FRAME_SCRATCH_ANSWER);
  struct fields fields = fields_of(frame);
  int32_t code = (int32_t)field_u32(&fields);
  fields_end(&fields);
  if (code == RELAY_OK) *fd = frame_take_descriptor(frame, 0);
  frame_free(frame);
  return code;
}

bool ask_verify(uint64_t checksum, uint64_t *answer) {
  struct outgoing out = {.count = 0};
  put_u64(&out, checksum);
  struct frame *frame = ask(RELAY_FRAME_VERIFY, &out, NULL, 0, RELAY_FRAME_VERIFY_ANSWER);
  struct fields fields = fields_of(frame);
  int32_t code = (int32_t)field_u32(&fields);
  *answer = field_u64(&fields);
  fields_end(&fields);
  frame_free(frame);
  return code == RELAY_OK;
}
