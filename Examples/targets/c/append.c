/* SPDX-License-Identifier: Apache-2.0
 *
 * A target in C: appends every part to one file, which is this pipeline's alone.
 *
 * A repeat doesn't append twice: where the part begins is saved before its first byte is written, and the next attempt
 * cuts the file back to there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay_target.h"

static const char manifest[] =
    "{\"id\": \"org.example.append\", \"name\": \"Append\", \"version\": \"1.0.0\", \"license\": \"Apache-2.0\","
    " \"unit\": \"part\", \"idempotent\": true,"
    " \"settings\": {\"type\": \"object\", \"required\": [\"file\"], \"additionalProperties\": false, \"properties\": {"
    "   \"file\": {\"type\": \"string\", \"title\": \"The file that grows\", \"x-relay-access\": \"replace\"}}}}";

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  relay_text file;
  if (host->setting_text(host->context, "file", &file) == RELAY_OK) *instance = strndup(file.bytes, file.length);
  if (*instance != NULL) return 0;
  verdict->code = RELAY_NEEDS_ATTENTION;
  verdict->reason = RELAY_REASON_SETTINGS;
  return 1;
}

void relay_target_close(void *instance) { free(instance); }

/* A full disk or a missing mount heals; what a person must mend is told apart. */
static int32_t failed(const relay_host *host, relay_verdict *verdict, const char *what, int number) {
  int mendable = number == EACCES || number == EPERM || number == ENOENT || number == EISDIR || number == EROFS;
  char text[128];
  int length = snprintf(text, sizeof text, "%.20s: %.100s", what, strerror(number));
  host->set_message(host->context, text, (uint64_t)length);
  verdict->code = mendable ? RELAY_NEEDS_ATTENTION : RELAY_RETRY;
  verdict->reason = number == ENOSPC || number == EDQUOT ? RELAY_REASON_RECEIVER_FULL : RELAY_REASON_OTHER;
  verdict->status = number;
  return 0;
}

/* Where this part begins: saved by an earlier attempt, or the file's end now, which is then saved. -1 with errno. */
static off_t beginning(const relay_host *host, int file) {
  relay_text saved;
  char text[24] = "";
  off_t end = lseek(file, 0, SEEK_END);
  if (host->state_get(host->context, RELAY_STATE_DELIVERY, "begin", &saved) == RELAY_OK && saved.length < sizeof text) {
    memcpy(text, saved.bytes, saved.length);
    off_t begin = (off_t)strtoll(text, NULL, 10);
    return begin < end ? begin : end; /* somebody may have emptied the file meanwhile */
  }
  int length = snprintf(text, sizeof text, "%lld", (long long)end);
  if (host->state_put(host->context, RELAY_STATE_DELIVERY, "begin", text, (uint64_t)length) == RELAY_OK) return end;
  errno = EIO;
  return -1;
}

/* 0 when all is written and synced, 1 if the host said to stop, -1 with errno. */
static int copy(const relay_host *host, int file) {
  static char buffer[65536];
  int64_t got;
  while ((got = host->read(host->context, buffer, sizeof buffer)) > 0) {
    for (int64_t done = 0; done < got;) {
      ssize_t count = write(file, buffer + done, (size_t)(got - done));
      if (count < 0 && errno != EINTR) return -1;
      if (count > 0) done += count;
    }
  }
  return got < 0 ? 1 : fsync(file);
}

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  int file = open(instance, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failed(host, verdict, "can't open the file", errno);
  off_t begin = beginning(host, file);
  int result = begin < 0 || ftruncate(file, begin) != 0 || lseek(file, begin, SEEK_SET) < 0 ? -1 : copy(host, file);
  int number = errno;
  if (result != 0 && begin >= 0) (void)!ftruncate(file, begin); /* if that fails, the next attempt cuts it off */
  close(file);
  if (result < 0) return failed(host, verdict, "can't write the file", number);
  if (result > 0) {
    verdict->code = host->should_stop(host->context) ? RELAY_CANCELLED : RELAY_RETRY;
    verdict->reason = RELAY_REASON_SOURCE;
    return 0;
  }
  verdict->code = RELAY_DELIVERED;
  verdict->bytes_sent = delivery->length;
  return 0;
}
