/* SPDX-License-Identifier: Apache-2.0
 *
 * One call into the target for each request of the host, and its answer.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frames.h"
#include "settings.h"

static enum { NOT_OPEN, OPEN, OPEN_FAILED } state;
static relay_verdict open_verdict;      /* why it failed */

/* --- Around a call ------------------------------------------------------------------------------------------------ */

static void begin(uint32_t during, uint64_t request, int cancel) {
  worker.message_length = worker.receipt_length = 0;
  atomic_store(&worker.request, request);
  atomic_store(&worker.cancel, cancel);
  atomic_store(&worker.stopped, 0);
  atomic_store(&worker.during, during);
}

static void end(void) {
  atomic_store(&worker.during, DURING_NONE);
  atomic_store(&worker.cancel, -1);
  fflush(stdout);                       /* _exit won't */
  forget_kept();
}

static void send_verdict(struct outgoing *out, int32_t returned, const relay_verdict *verdict) {
  put_u32(out, (uint32_t)returned);
  put_u32(out, (uint32_t)verdict->code);
  put_u32(out, (uint32_t)verdict->reason);
  put_u32(out, (uint32_t)verdict->status);
  put_u64(out, verdict->retry_after_ms);
  put_u64(out, verdict->bytes_sent);
  put_u32(out, verdict->flags);
  put_text(out, worker.message, worker.message_length);
}

static void send_result(uint64_t request, relay_text delivery_id, int32_t returned, const relay_verdict *verdict,
                        uint32_t use) {
  struct outgoing out = {.count = 0};
  put_text(&out, delivery_id.bytes, (uint32_t)(delivery_id.length < 255 ? delivery_id.length : 255));
  send_verdict(&out, returned, verdict);
  put_text(&out, worker.receipt, worker.receipt_length);
  put_u32(&out, use);
  frame_send(RELAY_FRAME_RESULT, request, &out, NULL, 0);
  atomic_store(&worker.request, 0);
}

/* What the target wrote, as far as it says that the struct goes. */
static relay_verdict as_written(const relay_verdict *written) {
  relay_verdict verdict = {0};
  size_t size = written->size < sizeof verdict ? written->size : sizeof verdict;
  memcpy(&verdict, written, size);
  return verdict;
}

static void require_loaded(void) {
  if (!worker.target.loaded) protocol_broken("a call before LOAD");
}

/* --- The calls ---------------------------------------------------------------------------------------------------- */

void call_describe(struct frame *frame) {
  require_loaded();
  worker.manifest_sent = false;
  begin(DURING_DESCRIBE, frame->request, -1);
  int32_t returned = worker.target.describe(&relay_host_table);
  end();
  struct outgoing out = {.count = 0};
  put_u32(&out, (uint32_t)returned);
  frame_send(RELAY_FRAME_DESCRIBED, frame->request, &out, NULL, 0);
  atomic_store(&worker.request, 0);
}

/* Keeps the frame: the settings lie in it. */
void call_open(struct frame *frame) {
  require_loaded();
  if (state != NOT_OPEN) protocol_broken("a second OPEN");
  struct fields fields = fields_of(frame);
  settings_read_base(&fields);
  fields_end(&fields);
  relay_verdict verdict = {.size = sizeof verdict};
  begin(DURING_OPEN, frame->request, -1);
  int32_t returned = worker.target.open(&relay_host_table, &worker.instance, &verdict);
  end();
  open_verdict = as_written(&verdict);
  state = returned == 0 && open_verdict.code == RELAY_NONE ? OPEN : OPEN_FAILED;
  struct outgoing out = {.count = 0};
  send_verdict(&out, returned, &open_verdict);
  frame_send(RELAY_FRAME_OPENED, frame->request, &out, NULL, 0);
  atomic_store(&worker.request, 0);
  if (open_verdict.code == RELAY_DELIVERED) open_verdict.code = RELAY_NONE;     /* it delivered nothing */
}

static const relay_pair *read_pairs(struct fields *fields, uint64_t *count) {
  *count = field_count(fields, 8);
  if (*count == 0) return NULL;
  relay_pair *pairs = calloc(*count, sizeof *pairs);
  if (pairs == NULL) protocol_broken("no memory for attributes");
  for (uint64_t index = 0; index < *count; index++) {
    pairs[index].name = field_present_text(fields);
    pairs[index].value = field_present_text(fields);
  }
  return pairs;
}

static relay_delivery read_delivery(struct fields *fields) {
  relay_delivery delivery = {.size = sizeof delivery};
  delivery.length = field_u64(fields);
  memcpy(delivery.sha256, field_bytes(fields, sizeof delivery.sha256), sizeof delivery.sha256);
  relay_text *texts[] = {
      &delivery.file_name,     &delivery.media_type,  &delivery.content_encoding, &delivery.pipeline_id,
      &delivery.pipeline_name, &delivery.artifact_id, &delivery.delivery_id,      &delivery.message_id,
  };
  for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) *texts[index] = field_text(fields);
  delivery.part_index = field_u32(fields);
  delivery.part_count = field_u32(fields);
  delivery.attempt = field_u32(fields);
  delivery.flags = field_u32(fields);
  delivery.created_unix_ms = (int64_t)field_u64(fields);
  delivery.first_attempt_unix_ms = (int64_t)field_u64(fields);
  delivery.attributes = read_pairs(fields, &delivery.attribute_count);
  return delivery;
}

/* A delivery that the source speaks against didn't happen. */
static void check_source(relay_verdict *verdict) {
  const char *objection = source_objection();
  if (verdict->code != RELAY_DELIVERED || objection == NULL) return;
  uint64_t sent = verdict->bytes_sent;
  *verdict = (relay_verdict){.code = RELAY_RETRY, .reason = RELAY_REASON_SOURCE, .bytes_sent = sent};
  worker.message_length = text_clean(worker.message, sizeof worker.message, objection, strlen(objection));
}

void call_deliver(struct frame *frame) {
  require_loaded();
  if (state == NOT_OPEN) protocol_broken("DELIVER before OPEN");
  struct fields fields = fields_of(frame);
  relay_delivery delivery = read_delivery(&fields);
  settings_read_overlay(&fields);
  bool verified = field_u8(&fields) != 0;
  uint64_t checksum = field_u64(&fields);
  fields_end(&fields);
  if (state == OPEN_FAILED) {
    send_result(frame->request, delivery.delivery_id, 0, &open_verdict, RELAY_SOURCE_UNTOUCHED);
  } else {
    delivery.fd = frame->descriptors[0];
    delivery.cancel_fd = frame->descriptors[1];
    relay_text delivery_id = delivery.delivery_id;      /* ours: the target gets a struct that it might write to */
    relay_verdict written = {.size = sizeof written};
    source_begin(delivery.fd, delivery.length, verified, checksum);
    begin(DURING_DELIVER, frame->request, delivery.cancel_fd);
    int32_t returned = worker.target.deliver(&relay_host_table, worker.instance, &delivery, &written);
    end();
    relay_verdict verdict = as_written(&written);
    if (returned != 0) verdict.code = RELAY_NONE;
    check_source(&verdict);
    send_result(frame->request, delivery_id, returned, &verdict, source_use());
    source_end();
  }
  settings_drop_overlay();
  free((void *)delivery.attributes);
}

void call_check(struct frame *frame) {
  require_loaded();
  if (state == NOT_OPEN) protocol_broken("CHECK before OPEN");
  relay_text none = {NULL, 0};
  relay_verdict verdict = open_verdict;
  int32_t returned = 0;
  if (state == OPEN && worker.target.check == NULL) {
    returned = RELAY_ABSENT;
    worker.message_length = worker.receipt_length = 0;
  } else if (state == OPEN) {
    relay_verdict written = {.size = sizeof written};
    begin(DURING_CHECK, frame->request, frame->descriptors[0]);
    returned = worker.target.check(&relay_host_table, worker.instance, &written);
    end();
    verdict = as_written(&written);
    if (returned != 0) verdict.code = RELAY_NONE;
  }
  send_result(frame->request, none, returned, &verdict, RELAY_SOURCE_UNTOUCHED);
}

void call_leave(void) {
  if (state == OPEN && worker.target.close != NULL) {
    begin(DURING_CLOSE, 0, -1);
    worker.target.close(worker.instance);
    end();
  }
  fflush(stdout);
  _exit(RELAY_EXIT_DONE);
}
