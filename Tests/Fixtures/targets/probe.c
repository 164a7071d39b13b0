/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that writes down what the host offers it: one log line a fact, "name=value" or "name!code", for tests to
 * compare.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

static void fact(const relay_host *host, const char *format, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) host->log(host->context, RELAY_LOG_DEBUG, line, (uint64_t)length);
}

static void text_fact(const relay_host *host, const char *what, int32_t code, relay_text text) {
  if (code == RELAY_OK) fact(host, "%s=%.*s", what, (int)text.length, text.bytes);
  else fact(host, "%s!%d", what, code);
}

static void settings(const relay_host *host, const char *when) {
  static const char *const paths[] = {"", "text", "number", "real", "flag", "list", "list/1", "object", "object/a~1b",
                                      "object/key", "nothing", "absent", "rendered", "password", "object/password"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    char what[64];
    relay_text text = {NULL, 0};
    int64_t integer = 0;
    int32_t flag = 0, code;
    uint64_t count = 0;
    snprintf(what, sizeof what, "%s text %s", when, paths[i]);
    text_fact(host, what, host->setting_text(host->context, paths[i], &text), text);
    code = host->setting_integer(host->context, paths[i], &integer);
    if (code == RELAY_OK) fact(host, "%s integer %s=%lld", when, paths[i], (long long)integer);
    code = host->setting_flag(host->context, paths[i], &flag);
    if (code == RELAY_OK) fact(host, "%s flag %s=%d", when, paths[i], flag);
    code = host->setting_count(host->context, paths[i], &count);
    if (code == RELAY_OK) fact(host, "%s count %s=%llu", when, paths[i], (unsigned long long)count);
    snprintf(what, sizeof what, "%s secret %s", when, paths[i]);
    if (host->secret(host->context, paths[i], &text) == RELAY_OK) text_fact(host, what, RELAY_OK, text);
    for (uint64_t index = 0; host->setting_name(host->context, paths[i], index, &text) == RELAY_OK; index++) {
      snprintf(what, sizeof what, "%s name %s %llu", when, paths[i], (unsigned long long)index);
      text_fact(host, what, RELAY_OK, text);
    }
  }
  relay_text json = {NULL, 0};
  text_fact(host, "json", host->settings_json(host->context, &json), json);
}

static void state(const relay_host *host) {
  relay_text value = {NULL, 0}, key = {NULL, 0};
  char long_key[300];
  memset(long_key, 'k', sizeof long_key);
  long_key[299] = 0;
  text_fact(host, "get none", host->state_get(host->context, RELAY_STATE_PIPELINE, "etag", &value), value);
  fact(host, "put!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, "etag", "W/1", 3));
  fact(host, "put empty!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, "empty", NULL, 0));
  fact(host, "put delivery!%d", host->state_put(host->context, RELAY_STATE_DELIVERY, "offset", "9", 1));
  text_fact(host, "get", host->state_get(host->context, RELAY_STATE_PIPELINE, "etag", &value), value);
  text_fact(host, "next", host->state_next(host->context, RELAY_STATE_PIPELINE, "", &key), key);
  text_fact(host, "next", host->state_next(host->context, RELAY_STATE_PIPELINE, "empty", &key), key);
  text_fact(host, "next", host->state_next(host->context, RELAY_STATE_PIPELINE, "etag", &key), key);
  fact(host, "delete!%d", host->state_delete(host->context, RELAY_STATE_PIPELINE, "etag"));
  fact(host, "empty key!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, "", "x", 1));
  fact(host, "long key!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, long_key, "x", 1));
  fact(host, "bad key!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, "\xff", "x", 1));
  fact(host, "bad scope!%d", host->state_put(host->context, 2, "k", "x", 1));
}

static void scratch(const relay_host *host) {
  int32_t fd = -1;
  int32_t code = host->scratch(host->context, 100, &fd);
  char back[5] = {0};
  if (code != RELAY_OK || write(fd, "abcd", 4) != 4 || lseek(fd, 0, SEEK_SET) != 0 || read(fd, back, 4) != 4) {
    fact(host, "scratch!%d", code);
    return;
  }
  fact(host, "scratch=%s", back);
  close(fd);
}

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  relay_text text;
  fact(host, "early setting!%d", host->setting_text(host->context, "text", &text));
  fact(host, "early state!%d", host->state_delete(host->context, RELAY_STATE_PIPELINE, "k"));
  int32_t first = host->emit_manifest(host->context, "{\"id\": \"org.example.probe\"}", 27);
  fact(host, "second manifest!%d", host->emit_manifest(host->context, "{}", 2));
  return first;
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  (void)verdict;
  *instance = NULL;
  fact(host, "host size=%u abi=%u extension=%s", host->size, host->abi,
       host->extension(host->context, "relay.nothing/1") == NULL ? "none" : "some");
  settings(host, "open");
  fact(host, "open delivery state!%d", host->state_put(host->context, RELAY_STATE_DELIVERY, "k", "v", 1));
  fact(host, "open pipeline state!%d", host->state_put(host->context, RELAY_STATE_PIPELINE, "opened", "v", 1));
  char byte;
  fact(host, "open read=%d", (int)host->read(host->context, &byte, 1));
  return 0;
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  (void)instance;
  const relay_text texts[] = {delivery->file_name,     delivery->media_type,  delivery->content_encoding,
                              delivery->pipeline_id,   delivery->pipeline_name, delivery->artifact_id,
                              delivery->delivery_id,   delivery->message_id};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    text_fact(host, "field", texts[i].bytes == NULL ? RELAY_ABSENT : RELAY_OK, texts[i]);
  }
  fact(host, "numbers=%u %llu %u %u %u %u %lld %lld %u %u", delivery->size, (unsigned long long)delivery->length,
       delivery->part_index, delivery->part_count, delivery->attempt, delivery->flags,
       (long long)delivery->created_unix_ms, (long long)delivery->first_attempt_unix_ms, delivery->sha256[0],
       delivery->sha256[31]);
  for (uint64_t i = 0; i < delivery->attribute_count; i++) {
    fact(host, "attribute %.*s=%.*s", (int)delivery->attributes[i].name.length, delivery->attributes[i].name.bytes,
         (int)delivery->attributes[i].value.length, delivery->attributes[i].value.bytes);
  }
  settings(host, "deliver");
  state(host);
  scratch(host);
  verdict->code = RELAY_RETRY;
  verdict->reason = RELAY_REASON_THROTTLED;
  verdict->status = 429;
  verdict->retry_after_ms = 1500;
  verdict->bytes_sent = 12;
  verdict->flags = RELAY_MAYBE_DELIVERED;
  host->set_message(host->context, "come back", 9);
  host->set_receipt(host->context, "r-1", 3);
  return 0;
}
