/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that posts to "url" and breaks a promise in the way that is chosen at compile time, for tests of those who judge:
 *   UNHEARD   says delivered whatever the answer, and when there is none
 *   ANEW      has a new Idempotency-Key for each attempt
 *   STUBBORN  sends again at once when no answer comes, and has it tried again all the same
 *   GARBLED   sends other bytes from the second attempt on
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay_target.h"

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] =
      "{\"id\": \"org.example.careless\", \"name\": \"Careless\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"idempotent\": true, \"settings\": {\"type\": \"object\", \"required\": [\"url\"],"
      " \"properties\": {\"url\": {\"type\": \"string\", \"x-relay-template\": true}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  (void)host;
  (void)verdict;
  *instance = NULL;
  return 0;
}

/* Sends it all and waits for an answer; 1 when that is a good one. */
static int exchange(int port, const char *request, size_t length) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  char answer[16] = "";
  size_t had = 0;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0) return 0;
  if (connect(line, (struct sockaddr *)&address, sizeof address) != 0 ||
      send(line, request, length, MSG_NOSIGNAL) != (ssize_t)length) {
    close(line);
    return 0;
  }
  while (had < 12) {
    ssize_t got = recv(line, answer + had, 12 - had, 0);
    if (got <= 0) break;
    had += (size_t)got;
  }
  close(line);
  return had == 12 && memcmp(answer + 9, "201", 3) == 0;
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  static char body[65536], request[70000], path[512];
  relay_text url = {NULL, 0};
  int port = 0, good = 0;
  size_t length = 0;
  int64_t got;
  (void)instance;
  verdict->code = RELAY_RETRY;
  host->setting_text(host->context, "url", &url);
  snprintf(request, sizeof request, "%.*s", (int)url.length, url.length ? url.bytes : "");
  if (sscanf(request, "http://127.0.0.1:%d%511s", &port, path) != 2) return 0;
  while ((got = host->read(host->context, body + length, sizeof body - length)) > 0) length += (size_t)got;
  if (got < 0) return 0;
#ifdef GARBLED
  if (delivery->attempt > 1 && length > 0) body[0] ^= 1;
#endif
#ifdef ANEW
  int salt = (int)delivery->attempt;
#else
  int salt = 0;
#endif
  int head = snprintf(request, sizeof request,
                      "POST %s HTTP/1.1\r\nHost: here\r\nIdempotency-Key: %.*s-%d\r\nContent-Length: %zu\r\n\r\n", path,
                      (int)delivery->delivery_id.length, delivery->delivery_id.bytes, salt, length);
  if (head < 0 || (size_t)head + length > sizeof request) return 0;
  memcpy(request + head, body, length);
  good = exchange(port, request, (size_t)head + length);
#ifdef STUBBORN
  if (!good) exchange(port, request, (size_t)head + length);
#endif
#ifdef UNHEARD
  good = 1;
#endif
  if (good) verdict->code = RELAY_DELIVERED;
  return 0;
}
