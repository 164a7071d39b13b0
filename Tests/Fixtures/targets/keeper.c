/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that saves something in deliver and something in check, and says each time what it finds of both.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

static int instance;

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] =
      "{\"id\": \"org.example.keeper\", \"name\": \"Keeper\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"settings\": {\"type\": \"object\", \"properties\": {\"note\": {\"type\": \"string\"}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

int32_t relay_target_open(const relay_host *host, void **opened, relay_verdict *verdict) {
  relay_text text;
  (void)verdict;
  *opened = &instance;
  return host->state_get(host->context, RELAY_STATE_PIPELINE, "delivered", &text) == RELAY_FAILED ? -1 : 0;
}

static void found(const relay_host *host, const char *name, char *to, size_t room) {
  relay_text text;
  int32_t code = host->state_get(host->context, RELAY_STATE_PIPELINE, name, &text);
  if (code == RELAY_OK) snprintf(to, room, "%.*s", (int)text.length, text.bytes);
  else snprintf(to, room, "%s", code == RELAY_ABSENT ? "nothing" : "failed");
}

static int count(const relay_host *host) {
  char after[256] = "";
  relay_text key;
  int keys = 0;
  while (host->state_next(host->context, RELAY_STATE_PIPELINE, after, &key) == RELAY_OK && keys < 100) {
    keys++;
    snprintf(after, sizeof after, "%.*s", (int)key.length, key.bytes);
  }
  return keys;
}

static void say(const relay_host *host, const char *extra) {
  char delivered[64], checked[64], text[256];
  found(host, "delivered", delivered, sizeof delivered);
  found(host, "checked", checked, sizeof checked);
  snprintf(text, sizeof text, "delivered %s, checked %s, %d keys%s", delivered, checked, count(host), extra);
  host->set_message(host->context, text, strlen(text));
}

int32_t relay_target_deliver(const relay_host *host, void *opened, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  char buffer[4096];
  (void)opened, (void)delivery;
  while (host->read(host->context, buffer, sizeof buffer) > 0) {}
  say(host, "");
  int32_t code = host->state_put(host->context, RELAY_STATE_PIPELINE, "delivered", "before", 6);
  verdict->code = code == RELAY_OK ? RELAY_DELIVERED : RELAY_RETRY;
  return 0;
}

int32_t relay_target_check(const relay_host *host, void *opened, relay_verdict *verdict) {
  char extra[128];
  int scratch = -1;
  (void)opened;
  say(host, "");
  int32_t put = host->state_put(host->context, RELAY_STATE_PIPELINE, "checked", "before", 6);
  int32_t own = host->state_put(host->context, RELAY_STATE_DELIVERY, "checked", "before", 6);
  int32_t file = host->scratch(host->context, 0, &scratch);
  int32_t gone = host->state_delete(host->context, RELAY_STATE_PIPELINE, "never there");
  snprintf(extra, sizeof extra, "; put %d, put for a delivery %s, delete %d, scratch %s", (int)put,
           own == RELAY_DENIED ? "denied" : "not denied", (int)gone,
           file == RELAY_OK && write(scratch, "x", 1) == 1 ? "written" : "missing");
  /* What it put is there for the rest of the check. */
  char before[64], said[512];
  found(host, "checked", before, sizeof before);
  char delivered[64];
  found(host, "delivered", delivered, sizeof delivered);
  snprintf(said, sizeof said, "delivered %s%s, then checked %s, %d keys", delivered, extra, before, count(host));
  host->set_message(host->context, said, strlen(said));
  verdict->code = RELAY_DELIVERED;
  return 0;
}
