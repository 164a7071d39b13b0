/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that waits in deliver until the file named by its setting "gate" exists, then says which version of it
 * delivered (VERSION is chosen at compile time), and its setting "note", which may hold a template.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

#ifndef VERSION
#define VERSION "1"
#endif

static char gate[512];

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
#ifdef DESCRIBING
  usleep(DESCRIBING);
#endif
  static const char manifest[] =
      "{\"id\": \"org.example.gated\", \"name\": \"Gated\", \"version\": \"" VERSION "\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"settings\": {\"type\": \"object\", \"required\": [\"gate\"],"
      " \"properties\": {\"gate\": {\"type\": \"string\", \"x-relay-access\": \"read\"},"
      " \"note\": {\"type\": \"string\", \"x-relay-template\": true}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  relay_text text;
  (void)verdict;
  *instance = NULL;
  if (host->setting_text(host->context, "gate", &text) != RELAY_OK || text.length >= sizeof gate) return -1;
  memcpy(gate, text.bytes, text.length);
  return 0;
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  char buffer[65536], said[600];
  relay_text note = {NULL, 0};
  int64_t got;
  (void)instance;
  (void)delivery;
  host->log(host->context, RELAY_LOG_INFO, "at the gate", 11);
  while (access(gate, F_OK) != 0) {
    if (host->should_stop(host->context)) {
      verdict->code = RELAY_CANCELLED;
      return 0;
    }
    host->progress(host->context, 0, 0);
    usleep(5000);
  }
  do got = host->read(host->context, buffer, sizeof buffer); while (got > 0);
  verdict->code = got == 0 ? RELAY_DELIVERED : RELAY_RETRY;
  host->setting_text(host->context, "note", &note);
  snprintf(said, sizeof said, "version " VERSION "%s%.*s", note.length > 0 ? " " : "", (int)note.length,
           note.length > 0 ? note.bytes : "");
  host->set_message(host->context, said, strlen(said));
  return 0;
}
