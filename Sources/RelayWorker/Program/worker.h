/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.h - what the files of this program share. One process serves one target for one pipeline, so its state is one
 * struct.
 */
#ifndef RELAY_WORKER_H
#define RELAY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "relay_target.h"
#include "relay_worker_protocol.h"

/* Which function of the target is running; as bits, so that a callback can name those it is for. */
#define DURING_NONE 0u
#define DURING_DESCRIBE 1u
#define DURING_OPEN 2u
#define DURING_DELIVER 4u
#define DURING_CHECK 8u
#define DURING_CLOSE 16u
#define DURING_WORK (DURING_OPEN | DURING_DELIVER | DURING_CHECK)

struct target {
  bool loaded, failed;                  /* failed: LOAD_FAILED was sent, nothing is answered any more */
  uint32_t (*abi)(void);
  int32_t (*describe)(const relay_host *);
  int32_t (*open)(const relay_host *, void **, relay_verdict *);
  int32_t (*deliver)(const relay_host *, void *, const relay_delivery *, relay_verdict *);
  int32_t (*check)(const relay_host *, void *, relay_verdict *);
  void (*close)(void *);
};

struct worker {
  pid_t host;                           /* its process number */
  int memory;                           /* its own, open for reading until the target is loaded; 0 for none */
  pid_t pid;                            /* a child that the target forked finds another one and keeps silent */
  pthread_t caller;                     /* the calling thread */
  _Atomic uint32_t during;              /* DURING_… */
  _Atomic uint64_t request;             /* of the running call, for LOG and PROGRESS */
  uint64_t own_requests;                /* numbers given to what the worker asks */
  atomic_int cancel;                    /* descriptor, or -1 */
  atomic_int stopped;                   /* cancel was readable once */
  struct target target;
  void *instance;
  bool manifest_sent;
  char message[RELAY_MAXIMUM_MESSAGE];
  char receipt[RELAY_MAXIMUM_RECEIPT];
  uint32_t message_length, receipt_length;
};

extern struct worker worker;
extern const relay_host relay_host_table;

/* setup.c: makes this process what a worker must be; doesn't return if it can't. */
void setup_process(const char *host_pid);
void setup_limit(int resource, uint64_t limit);
/* Ties this process's life to the host's; once more after it became somebody else, which the kernel unties it by. */
void setup_end_with_host(void);

/* text.c: copies at most `limit` bytes of clean text: valid UTF-8, no control characters, cut at a character's
 * border. */
uint32_t text_clean(char *to, uint32_t limit, const char *bytes, uint64_t length);
bool text_is_key(const char *key, uint64_t length);

/* memory.c: copies for the target, NUL after them, valid until the call ends; NULL if memory is short. */
char *keep(const void *bytes, uint64_t length);
void forget_kept(void);

/* log.c */
void host_log(void *context, int32_t level, const char *bytes, uint64_t length);
void host_progress(void *context, uint64_t done, uint64_t total);
int32_t host_should_stop(void *context);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* May a calling-thread function be used here and now? Complains if not. */
bool allowed(const char *function, uint32_t during);

/* source.c */
void source_begin(int fd, uint64_t length, bool verified, uint64_t checksum);
void source_end(void);
uint32_t source_use(void);
/* Why a DELIVERED can't be believed, or NULL. */
const char *source_objection(void);
int64_t host_read(void *context, void *buffer, uint64_t capacity);
int32_t host_rewind(void *context);

/* requests.c: what is asked of the host. */
int32_t host_scratch(void *context, uint64_t maximum, int32_t *fd);
int32_t host_state_get(void *context, int32_t scope, const char *key, relay_text *value);
int32_t host_state_put(void *context, int32_t scope, const char *key, const char *bytes, uint64_t length);
int32_t host_state_delete(void *context, int32_t scope, const char *key);
int32_t host_state_next(void *context, int32_t scope, const char *after, relay_text *key);
bool ask_verify(uint64_t checksum, uint64_t *answer);

/* answers.c: what the target hands out. */
int32_t host_emit_manifest(void *context, const char *json, uint64_t length);
void host_set_message(void *context, const char *bytes, uint64_t length);
void host_set_receipt(void *context, const char *bytes, uint64_t length);

/* calls.c, load.c: the requests of the host. */
struct frame;
void call_access(struct frame *frame);
void call_load(struct frame *frame);
void call_describe(struct frame *frame);
void call_open(struct frame *frame);
void call_deliver(struct frame *frame);
void call_check(struct frame *frame);
void call_leave(void) __attribute__((noreturn));

#endif
