/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"

/* What may be called from any thread. */

#define PROGRESS_INTERVAL_MS 100

void host_log(void *context, int32_t level, const char *bytes, uint64_t length) {
  (void)context;
  struct outgoing out = {.count = 0};
  char clean[RELAY_MAXIMUM_MESSAGE];
  put_u32(&out, (uint32_t)level);
  put_text(&out, clean, text_clean(clean, sizeof clean, bytes, length));
  frame_send(RELAY_FRAME_LOG, atomic_load(&worker.request), &out, NULL, 0);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void host_progress(void *context, uint64_t done, uint64_t total) {
  (void)context;
  static _Atomic uint64_t next_ms;
  uint64_t now = now_ms(), next = atomic_load(&next_ms);
  if (now < next || !atomic_compare_exchange_strong(&next_ms, &next, now + PROGRESS_INTERVAL_MS)) return;
  struct outgoing out = {.count = 0};
  put_u64(&out, done);
  put_u64(&out, total);
  frame_send(RELAY_FRAME_PROGRESS, atomic_load(&worker.request), &out, NULL, 0);
}

int32_t host_should_stop(void *context) {
  (void)context;
  if (atomic_load(&worker.during) == DURING_NONE) return 1;     /* a thread that outlived its call */
  if (atomic_load(&worker.stopped)) return 1;
  struct pollfd cancel = {atomic_load(&worker.cancel), POLLIN, 0};
  if (cancel.fd < 0 || poll(&cancel, 1, 0) <= 0 || (cancel.revents & (POLLIN | POLLHUP)) == 0) return 0;
  atomic_store(&worker.stopped, 1);
  return 1;
}

void complain(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  host_log(NULL, RELAY_LOG_ERROR, text, (uint64_t)length < sizeof text ? (uint64_t)length : sizeof text - 1);
}

bool allowed(const char *function, uint32_t during) {
  if (getpid() != worker.pid) return false;
  if (!pthread_equal(pthread_self(), worker.caller)) {
    complain("the target called %s from a thread other than the calling one; only log, progress and should_stop may be",
             function);
    return false;
  }
  if ((atomic_load(&worker.during) & during) != 0) return true;
  complain("the target called %s where it isn't offered; see relay_target.h", function);
  return false;
}
