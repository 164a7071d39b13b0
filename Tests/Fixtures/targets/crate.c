/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that takes an artifact as one: it puts what it gets into the folder "directory" as 1.got, 2.got and so on, adds a
 * line of JSON about it to "received" there, and answers as the file "answer" there says: retry, refused or, when there is
 * none, delivered. UNIT and LIMIT (bytes) are chosen at compile time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

#ifndef UNIT
#define UNIT "artifact"
#endif
#ifndef LIMIT
#define LIMIT "1000000000000"
#endif

static char folder[512];

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] =
      "{\"id\": \"org.example.crate\", \"name\": \"Crate\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"" UNIT "\", \"maximumBytes\": " LIMIT ", \"settings\": {\"type\": \"object\","
      " \"required\": [\"directory\"], \"properties\": {"
      " \"directory\": {\"type\": \"string\", \"x-relay-access\": \"write\"},"
      " \"subject\": {\"type\": \"string\", \"x-relay-template\": true}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  relay_text text;
  (void)verdict;
  *instance = NULL;
  if (host->setting_text(host->context, "directory", &text) != RELAY_OK || text.length >= sizeof folder) return -1;
  memcpy(folder, text.bytes, text.length);
  return 0;
}

/* The first number that is free; -1 when none can be made. */
static int next_file(char *path, size_t room, int *number) {
  for (*number = 1; *number < 10000; (*number)++) {
    snprintf(path, room, "%s/%d.got", folder, *number);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) return fd;
  }
  return -1;
}

static int take(const relay_host *host, int fd) {
  static char chunk[65536];
  int64_t got;
  while ((got = host->read(host->context, chunk, sizeof chunk)) > 0) {
    if (write(fd, chunk, (size_t)got) != got) return -1;
  }
  return got == 0 ? 0 : -1;
}

static void answer(const relay_host *host, relay_verdict *verdict) {
  char path[600], word[16] = "";
  snprintf(path, sizeof path, "%s/answer", folder);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (read(fd, word, sizeof word - 1) < 0) word[0] = 0;
    close(fd);
  }
  verdict->code = strncmp(word, "retry", 5) == 0     ? RELAY_RETRY
                  : strncmp(word, "refused", 7) == 0 ? RELAY_REFUSED
                                                     : RELAY_DELIVERED;
  host->set_message(host->context, word[0] ? word : "taken", strlen(word[0] ? word : "taken"));
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  char path[600], line[4096];
  int number;
  (void)instance;
  verdict->code = RELAY_RETRY;
  int fd = next_file(path, sizeof path, &number);
  if (fd < 0) return 0;
  int problem = take(host, fd);
  close(fd);
  if (problem) {
    unlink(path);
    return 0;
  }
  relay_text subject = {NULL, 0};
  host->setting_text(host->context, "subject", &subject);
#define TEXT(text) (int)(text).length, (text).length ? (text).bytes : ""
  answer(host, verdict);
  int length = snprintf(
      line, sizeof line,
      "{\"file\": \"%d.got\", \"name\": \"%.*s\", \"type\": \"%.*s\", \"encoding\": \"%.*s\", \"artifact\": \"%.*s\","
      " \"delivery\": \"%.*s\", \"message\": \"%.*s\", \"index\": %u, \"count\": %u, \"length\": %llu,"
      " \"attempt\": %u, \"subject\": \"%.*s\", \"taken\": %s}\n",
      number, TEXT(delivery->file_name), TEXT(delivery->media_type), TEXT(delivery->content_encoding),
      TEXT(delivery->artifact_id), TEXT(delivery->delivery_id), TEXT(delivery->message_id), delivery->part_index,
      delivery->part_count, (unsigned long long)delivery->length, delivery->attempt, TEXT(subject),
      verdict->code == RELAY_DELIVERED ? "true" : "false");
  snprintf(path, sizeof path, "%s/received", folder);
  fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || length >= (int)sizeof line || write(fd, line, (size_t)length) != length) verdict->code = RELAY_RETRY;
  if (fd >= 0) close(fd);
  return 0;
}
