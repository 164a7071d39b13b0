/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that tells its secret ("token") wherever it can, in the way that its setting "form" names: "plain",
 * "base64" (as another program would encode it) or "split" (in two log calls). The verdict is the one named by "verdict".
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

static char said[2048];
static int64_t wanted;

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] =
      "{\"id\": \"org.example.tattler\", \"name\": \"Tattler\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"settings\": {\"type\": \"object\", \"required\": [\"token\", \"form\"],"
      " \"properties\": {\"token\": {\"type\": \"string\", \"x-relay-secret\": \"required\"},"
      " \"form\": {\"enum\": [\"plain\", \"base64\"]}, \"verdict\": {\"type\": \"integer\", \"default\": 2}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

static void encode(const relay_text *secret, char *out) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint64_t i = 0; i < secret->length; i += 3) {
    uint32_t bits = 0, count = 0;
    for (uint64_t j = i; j < i + 3; j++, count += j <= secret->length) {
      bits = bits << 8 | (j < secret->length ? (uint8_t)secret->bytes[j] : 0);
    }
    for (uint32_t j = 0; j < 4; j++) *out++ = j <= count ? letters[bits >> (18 - 6 * j) & 63] : '=';
  }
  *out = 0;
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  relay_text secret = {NULL, 0}, form = {NULL, 0};
  (void)verdict;
  *instance = NULL;
  if (host->secret(host->context, "token", &secret) != RELAY_OK || secret.length > 500) return -1;
  if (host->setting_text(host->context, "form", &form) != RELAY_OK) return -1;
  host->setting_integer(host->context, "verdict", &wanted);
  char token[1024];
  if (form.length == 6) encode(&secret, token);
  else snprintf(token, sizeof token, "%.*s", (int)secret.length, secret.bytes);
  snprintf(said, sizeof said, "the token is %s indeed", token);
  return 0;
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  (void)instance;
  (void)delivery;
  for (int32_t level = RELAY_LOG_DEBUG; level <= RELAY_LOG_ERROR; level++) {
    host->log(host->context, level, said, strlen(said));
  }
  printf("%s\n", said);
  fprintf(stderr, "%s\n", said);
  host->set_message(host->context, said, strlen(said));
  host->set_receipt(host->context, said, strlen(said));
  char byte[256];
  while (host->read(host->context, byte, sizeof byte) > 0) {}
  verdict->code = (int32_t)wanted;
  return 0;
}
