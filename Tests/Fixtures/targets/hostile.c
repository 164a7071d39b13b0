/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that misbehaves in the way that its setting "mode" names; "ok" behaves. Crimes that happen before there are
 * settings are chosen at compile time (-D): CRASH_IN_CONSTRUCTOR, CRASH_IN_ABI, HANG_IN_DESCRIBE, UNDEFINED_SYMBOL,
 * NO_DELIVER, ABI_MAJOR=n, ABI_MINOR=n, BAD_MANIFEST, NO_MANIFEST.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay_target.h"

#ifndef ABI_MAJOR
#define ABI_MAJOR RELAY_TARGET_ABI_MAJOR
#endif
#ifndef ABI_MINOR
#define ABI_MINOR RELAY_TARGET_ABI_MINOR
#endif

static char mode[64];

#ifdef CRASH_IN_CONSTRUCTOR
__attribute__((constructor)) static void crash_early(void) { abort(); }
#endif

#ifdef UNDEFINED_SYMBOL
extern int nobody_defines_this(void);
#endif

uint32_t relay_target_abi(void) {
#ifdef CRASH_IN_ABI
  abort();
#endif
#ifdef UNDEFINED_SYMBOL
  if (nobody_defines_this()) return 0;
#endif
  return ((uint32_t)ABI_MAJOR << 16) | ABI_MINOR;
}

int32_t relay_target_describe(const relay_host *host) {
#ifdef HANG_IN_DESCRIBE
  for (;;) pause();
#endif
#ifdef NO_MANIFEST
  (void)host;
  return 0;
#endif
#ifdef BAD_MANIFEST
  static const char manifest[] = "{\"id\": \"org.example.hostile\", ";
#else
  static const char manifest[] =
      "{\"id\": \"org.example.hostile\", \"name\": \"Hostile\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"settings\": {\"type\": \"object\", \"required\": [\"mode\"],"
      " \"properties\": {\"mode\": {\"type\": \"string\"}, \"request\": {\"type\": \"integer\"},"
      " \"file\": {\"type\": \"string\", \"x-relay-access\": \"write\"}}}}";
#endif
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

static int is(const char *name) { return strcmp(mode, name) == 0; }

static void message(const relay_host *host, const char *text) { host->set_message(host->context, text, strlen(text)); }

static void log_line(const relay_host *host, const char *text) {
  host->log(host->context, RELAY_LOG_INFO, text, strlen(text));
}

static void crash_late(void) { abort(); }

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  relay_text text;
  *instance = mode;
  if (host->setting_text(host->context, "mode", &text) == RELAY_OK && text.length < sizeof mode) {
    memcpy(mode, text.bytes, text.length);
  }
  if (is("open-crash")) abort();
  if (is("open-exit")) exit(0);
  if (is("open-attention") || is("open-delivered")) {
    message(host, "the settings can't work");
    verdict->code = is("open-attention") ? RELAY_NEEDS_ATTENTION : RELAY_DELIVERED;
    return is("open-attention");
  }
  if (is("atexit-crash")) atexit(crash_late);
  return 0;
}

int32_t relay_target_check(const relay_host *host, void *instance, relay_verdict *verdict) {
  (void)instance;
  message(host, "checked");
  verdict->code = RELAY_DELIVERED;
  return 0;
}

void relay_target_close(void *instance) {
  (void)instance;
  if (is("close-print")) printf("closed");
  if (is("close-crash")) abort();
}

/* --- Deliveries --------------------------------------------------------------------------------------------------- */

/* Reads all; the last return value of read. */
static int64_t read_all(const relay_host *host, uint64_t chunk) {
  char *buffer = malloc(chunk);
  int64_t got = -1;
  if (buffer != NULL) do got = host->read(host->context, buffer, chunk); while (got > 0);
  free(buffer);
  return got;
}

static void put32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* A RESULT that says delivered, as the worker would write it for request `request` (its protocol, version 1). */
static size_t forge_result(uint8_t *frame, const relay_delivery *delivery, uint32_t request) {
  uint32_t id = (uint32_t)delivery->delivery_id.length;
  uint32_t payload = 4 + id + 4 + 32 + 4 + 4 + 4;
  memset(frame, 0, 16 + payload);
  put32(frame, payload);
  frame[4] = 135;
  put32(frame + 8, request);
  put32(frame + 16, id);
  memcpy(frame + 20, delivery->delivery_id.bytes, id);
  put32(frame + 20 + id + 4, RELAY_DELIVERED);
  return 16 + payload;
}

static uint32_t own_request(const relay_host *host) {
  int64_t request = 3;
  host->setting_integer(host->context, "request", &request);
  return (uint32_t)request;
}

static void write_line(const void *bytes, size_t count) {
  if (write(3, bytes, count) < 0) abort();
}

static void forge(const relay_host *host, const relay_delivery *delivery, int half) {
  uint8_t frame[512];
  if (delivery->delivery_id.length > 300) return;
  size_t count = forge_result(frame, delivery, own_request(host));
  write_line(frame, half ? count / 2 : count);
}

static void *exit_elsewhere(void *argument) {
  (void)argument;
  exit(0);
}

static void *log_elsewhere(void *argument) {
  const relay_host *host = argument;
  int64_t number;
  log_line(host, "from another thread");
  host->progress(host->context, 1, 2);
  log_line(host, host->should_stop(host->context) ? "should stop" : "should go on");
  log_line(host, host->setting_integer(host->context, "number", &number) == RELAY_DENIED ? "denied" : "allowed");
  log_line(host, host->read(host->context, &number, 1) == -1 ? "read denied" : "read allowed");
  return NULL;
}

static void *linger(void *argument) {
  const relay_host *host = argument;
  while (!host->should_stop(host->context)) usleep(1000);
  log_line(host, "outlived");
  return NULL;
}

static void run_thread(void *(*function)(void *), const relay_host *host, int join) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, (void *)host) != 0) abort();
  if (join) pthread_join(thread, NULL);
}

/* Children that hold every descriptor of ours for as long as they can. */
static void fork_child(int times) {
  pid_t child = fork();
  if (child == 0) {
    if (times > 1 && fork() != 0) _exit(0);
    if (times > 1) setsid();
    for (int i = 0; i < 100; i++) usleep(100000);
    _exit(0);
  }
  if (times > 1) waitpid(child, NULL, 0);
}

static void print_much(void) {
  static char block[65536];
  memset(block, 'x', sizeof block);
  for (int i = 79; i < (int)sizeof block; i += 80) block[i] = '\n';
  for (int i = 0; i < 1600; i++) fwrite(block, 1, sizeof block, stdout);
}

static void allocate_all(void) {
  for (;;) {
    char *block = malloc(1 << 20);
    if (block == NULL) abort();
    memset(block, 1, 1 << 20);
  }
}

static void bad_message(const relay_host *host) {
  static char text[20000];
  static const char start[] = "a\0b\x1b[31mred\x9b\xff\xc3\n\xc2\x85" "end ";
  memcpy(text, start, sizeof start - 1);
  for (size_t i = sizeof start - 1; i + 1 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 2);
  host->set_message(host->context, text, sizeof text);
  host->set_receipt(host->context, text, sizeof text);
  host->log(host->context, 77, text, sizeof text);
  host->log(host->context, RELAY_LOG_INFO, NULL, UINT64_MAX);
}

static void hang(const relay_host *host) {
  log_line(host, "hanging");
  for (;;) pause();
}

static int32_t hang_until_cancelled(const relay_host *host) {
  log_line(host, "hanging");
  while (!host->should_stop(host->context)) usleep(1000);
  char byte;
  return host->read(host->context, &byte, 1) == -1 ? RELAY_CANCELLED : RELAY_NONE;
}

static void state_large(const relay_host *host) {
  size_t size = 10 << 20;
  char *bytes = calloc(1, size);
  if (bytes == NULL) abort();
  int32_t code = host->state_put(host->context, RELAY_STATE_PIPELINE, "large", bytes, size);
  log_line(host, code == RELAY_DENIED ? "denied" : "allowed");
  free(bytes);
}

/* What ends the process or speaks past the worker; returns if the mode isn't one of them. */
static void commit_crime(const relay_host *host, const relay_delivery *delivery) {
  if (is("segv")) *(volatile int *)8 = 1;
  if (is("abort")) abort();
  if (is("ill")) __builtin_trap();
  if (is("exit0")) exit(0);
  if (is("_exit0")) _exit(0);
  if (is("exit-thread")) run_thread(exit_elsewhere, host, 1);
  if (is("hang")) hang(host);
  if (is("ignore-term")) {
    signal(SIGTERM, SIG_IGN);
    hang(host);
  }
  if (is("oom")) allocate_all();
  if (is("close-line")) close(3);
  if (is("garbage-line")) write_line("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", 37);
  if (is("forged-result")) forge(host, delivery, 0);
  if (is("result-then-crash")) {
    forge(host, delivery, 0);
    abort();
  }
  if (is("half-result")) {
    forge(host, delivery, 1);
    abort();
  }
  if (is("state-then-crash")) {
    host->state_put(host->context, RELAY_STATE_DELIVERY, "sent", "12", 2);
    abort();
  }
}

/* What is a nuisance but leaves a verdict. */
static void be_a_nuisance(const relay_host *host, const relay_delivery *delivery) {
  if (is("print-much")) print_much();
  if (is("print-no-newline")) printf("no newline");
  if (is("flood-progress")) for (uint64_t i = 0; i < 300000; i++) host->progress(host->context, i, 300000);
  if (is("flood-log")) for (int i = 0; i < 20000; i++) log_line(host, "flood");
  if (is("fork-child")) fork_child(1);
  if (is("double-fork")) fork_child(2);
  if (is("threads")) run_thread(log_elsewhere, host, 1);
  if (is("thread-left")) run_thread(linger, host, 0);
  if (is("bad-message")) bad_message(host);
  if (is("state-large")) state_large(host);
  if (is("process-state")) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    umask(0);
    if (chdir("/proc") != 0) abort();
  }
  if (is("close-part")) close(delivery->fd);
}

#ifdef NO_DELIVER
#define relay_target_deliver nobody_looks_for_this
#endif
int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  (void)instance;
  commit_crime(host, delivery);
  be_a_nuisance(host, delivery);
  verdict->code = RELAY_DELIVERED;
  if (is("hang-cancel")) {
    verdict->code = hang_until_cancelled(host);
    message(host, "it waited in vain");
    return 0;
  }
  if (is("hang-unsure")) {                              /* knows only that it was told to stop */
    hang_until_cancelled(host);
    message(host, "told to stop");
    verdict->code = RELAY_RETRY;
    verdict->reason = RELAY_REASON_TIMEOUT;
    return 0;
  }
  if (is("unread")) return 0;
  int64_t last = read_all(host, 65536);
  if (is("insist")) {                                   /* delivered, whatever read said */
    for (int i = 0; i < 3; i++) if (read_all(host, 10) != last) verdict->code = RELAY_REFUSED;
    return 0;
  }
  if (last != 0) {
    message(host, "the source failed");
    verdict->code = RELAY_RETRY;
    verdict->reason = RELAY_REASON_SOURCE;
  }
  if (is("verdict-0")) verdict->code = RELAY_NONE;
  if (is("verdict-99")) verdict->code = 99;
  if (is("verdict-minus-1")) verdict->code = -1;
  if (is("retry-after-huge")) {
    verdict->code = RELAY_RETRY;
    verdict->retry_after_ms = UINT64_C(1) << 63;
  }
  if (is("size-small")) verdict->size = 4;
  if (is("size-large")) verdict->size = UINT32_MAX;
  if (is("read-past")) for (int i = 0; i < 3; i++) if (read_all(host, 7) != 0) verdict->code = RELAY_REFUSED;
  if (is("rewind")) {
    if (host->rewind(host->context) != RELAY_OK || read_all(host, 1000) != 0) verdict->code = RELAY_REFUSED;
  }
  return is("return-1");
}
