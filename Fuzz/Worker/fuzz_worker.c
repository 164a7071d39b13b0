/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole worker in one unit, so that its state can be put back between two runs, on a line made of bytes.
 */
#include "calls.h"

#define main worker_main
#include "../../Sources/RelayWorker/Program/answers.c"
#include "../../Sources/RelayWorker/Program/calls.c"
#include "../../Sources/RelayWorker/Program/fields.c"
#include "../../Sources/RelayWorker/Program/frames.c"
#include "../../Sources/RelayWorker/Program/load.c"
#include "../../Sources/RelayWorker/Program/log.c"
#include "../../Sources/RelayWorker/Program/main.c"
#include "../../Sources/RelayWorker/Program/memory.c"
#include "../../Sources/RelayWorker/Program/requests.c"
#include "../../Sources/RelayWorker/Program/settings.c"
#include "../../Sources/RelayWorker/Program/source.c"
#include "../../Sources/RelayWorker/Program/text.c"
#undef main
#undef malloc
#undef calloc
#undef free
#undef close
#undef fcntl

#include <setjmp.h>
#include <sys/eventfd.h>

#include "fuzz_worker.h"

/* Of zeros, in each part that comes over the line. */
#define PART_BYTES 24u
#define MOST_DESCRIPTORS 64

static uint64_t touched;                /* so that no look at what came is optimised away */

/* setup.c is about the process, which isn't the worker's here. */
void setup_limit(int resource, uint64_t limit) {
  (void)resource;
  (void)limit;
}
void setup_process(const char *host_pid) { (void)host_pid; }
void setup_end_with_host(void) {}

/* files.c, filter.c and identity.c likewise: this process isn't confined, so nothing is in the way of the next run. */
void files_allow_opened(int path, uint32_t access) {
  (void)access;
  if (path >= 0) fuzz_close(path);
}
void files_allow(const char *path, uint32_t access) {
  (void)path;
  (void)access;
}
bool files_confine(const char **call, int *error) {
  *call = "landlock_create_ruleset";
  *error = ENOSYS;
  return false;
}
int files_level(void) { return 0; }
int calls_print(int landlock) { return landlock; }
bool calls_confine(pid_t self, int landlock, relay_text handed, int *listener, const char **call, int *error) {
  for (uint64_t index = 0; index < handed.length; index++) touched += (uint8_t)handed.bytes[index];
  *listener = -1;
  (void)self;
  (void)landlock;
  (void)call;
  (void)error;
  return true;
}
bool identity_drop(uid_t user, gid_t group, const gid_t *groups, size_t count) {
  (void)user;
  (void)group;
  (void)groups;
  (void)count;
  return true;
}
bool identity_shed_powers(void) { return true; }

static jmp_buf leave;
static struct fuzz_worker_result result;
static const uint8_t *input;
static size_t input_left, input_piece, until_frame;

static void broken(const char *why) {
  if (result.broken == NULL) result.broken = why;
}

void fuzz_print(const char *format, ...) { touched += (uint64_t)format[0]; }

void fuzz_exit(int status) {
  result.exit = status;
  longjmp(leave, 1);
}

/* --- Memory, all of it given back after a run --------------------------------------------------------------------- */

struct block {
  struct block *next, *before;
};

static struct block blocks = {&blocks, &blocks};

void *fuzz_malloc(size_t size) {
  /* Two pointers before the bytes keep their alignment. */
  struct block *block = malloc(sizeof *block + size);
  if (block == NULL) return NULL;
  block->next = blocks.next;
  block->before = &blocks;
  blocks.next->before = block;
  blocks.next = block;
  return block + 1;
}

void *fuzz_calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size - sizeof(struct block)) return NULL;
  void *memory = fuzz_malloc(count * size);
  if (memory != NULL) memset(memory, 0, count * size);
  return memory;
}

void fuzz_free(void *memory) {
  if (memory == NULL) return;
  struct block *block = (struct block *)memory - 1;
  block->before->next = block->next;
  block->next->before = block->before;
  free(block);
}

/* --- Descriptors, all closed after a run -------------------------------------------------------------------------- */

static int open_files[MOST_DESCRIPTORS];
static size_t open_count;

static int opened(int descriptor) {
  if (descriptor >= 0 && open_count < MOST_DESCRIPTORS) open_files[open_count++] = descriptor;
  return descriptor;
}

int fuzz_close(int descriptor) {
  for (size_t index = 0; index < open_count; index++) {
    if (open_files[index] != descriptor) continue;
    open_files[index] = open_files[--open_count];
    return close(descriptor);
  }
  broken("it closes only what is its own");
  return -1;
}

int fuzz_fcntl(int descriptor, int command, int argument) {
  int made = fcntl(descriptor, command, argument);
  return command == F_DUPFD_CLOEXEC ? opened(made) : made;
}

static int new_part(void) {
  int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, PART_BYTES) != 0) broken("a file can be made");
  return file;
}

/* --- The line ----------------------------------------------------------------------------------------------------- */

/* A part, and what asks to stop: it is never readable. */
static void attach_files(struct msghdr *message) {
  int files[2] = {opened(new_part()), opened(eventfd(0, EFD_CLOEXEC))};
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(header), files, sizeof files);
  message->msg_controllen = CMSG_SPACE(sizeof files);
}

ssize_t fuzz_recvmsg(int socket, struct msghdr *message, int flags) {
  (void)flags;
  if (socket != RELAY_WORKER_SOCKET) broken("it reads only its line");
  if (input_left == 0) {
    message->msg_controllen = 0;
    return 0;
  }
  size_t count = message->msg_iov->iov_len;
  if (count > input_left) count = input_left;
  bool starts_frame = until_frame == 0 && input_left >= RELAY_FRAME_HEADER;
  if (starts_frame) until_frame = RELAY_FRAME_HEADER + (size_t)relay_get32(input);
  if (input_piece > 0 && count > input_piece) count = input_piece;
  memcpy(message->msg_iov->iov_base, input, count);
  /* Bit 15 of a header's reserved field, which the worker doesn't look at, says that files come along. */
  bool has_files = starts_frame && (input[7] & 0x80) != 0;
  if (has_files && open_count + 4 < MOST_DESCRIPTORS) attach_files(message);
  else message->msg_controllen = 0;
  message->msg_flags = 0;
  input += count;
  input_left -= count;
  until_frame -= count < until_frame ? count : until_frame;
  return (ssize_t)count;
}

ssize_t fuzz_sendmsg(int socket, const struct msghdr *message, int flags) {
  (void)flags;
  if (socket != RELAY_WORKER_SOCKET) broken("it writes only to its line");
  size_t total = 0;
  for (size_t index = 0; index < message->msg_iovlen; index++) {
    const uint8_t *bytes = message->msg_iov[index].iov_base;
    for (size_t at = 0; at < message->msg_iov[index].iov_len; at++) {
      result.checksum = (result.checksum ^ bytes[at]) * 0x100000001b3u;
    }
    total += message->msg_iov[index].iov_len;
  }
  if (total < RELAY_FRAME_HEADER) broken("a frame goes out whole");
  else if (relay_get32(message->msg_iov[0].iov_base) != total - RELAY_FRAME_HEADER) broken("a frame tells its length");
  if (total > RELAY_FRAME_MAXIMUM + RELAY_FRAME_HEADER) broken("a frame isn't longer than the host takes");
  result.sent++;
  return (ssize_t)total;
}

/* --- The target --------------------------------------------------------------------------------------------------- */

static void look_at(relay_text text) {
  for (uint64_t index = 0; index < text.length; index++) touched += (uint8_t)text.bytes[index];
}

static void look_at_settings(const relay_host *host) {
  static const char *const paths[] = {"", "mode", "a", "a/0", "headers", "list"};
  for (size_t index = 0; index < sizeof paths / sizeof paths[0]; index++) {
    relay_text text = {NULL, 0};
    int64_t integer;
    int32_t flag;
    uint64_t count = 0;
    if (host->setting_text(host->context, paths[index], &text) == RELAY_OK) look_at(text);
    if (host->setting_integer(host->context, paths[index], &integer) == RELAY_OK) touched += (uint64_t)integer;
    if (host->setting_flag(host->context, paths[index], &flag) == RELAY_OK) touched += (uint64_t)flag;
    if (host->secret(host->context, paths[index], &text) == RELAY_OK) look_at(text);
    if (host->setting_count(host->context, paths[index], &count) != RELAY_OK) continue;
    for (uint64_t member = 0; member < count && member < 8; member++) {
      if (host->setting_name(host->context, paths[index], member, &text) == RELAY_OK) look_at(text);
    }
  }
  relay_text json;
  if (host->settings_json(host->context, &json) == RELAY_OK) look_at(json);
}

static void use_state(const relay_host *host, int32_t scope) {
  relay_text text;
  if (host->state_get(host->context, scope, "key", &text) == RELAY_OK) look_at(text);
  host->state_put(host->context, scope, "key", "value", 5);
  if (host->state_next(host->context, scope, "", &text) == RELAY_OK) look_at(text);
  host->state_delete(host->context, scope, "key");
}

static uint32_t target_abi(void) { return RELAY_TARGET_ABI; }

static int32_t target_describe(const relay_host *host) {
  result.calls++;
  return host->emit_manifest(host->context, "{}", 2);
}

static int32_t target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  result.calls++;
  *instance = &result;
  look_at_settings(host);
  int64_t fails;
  if (host->setting_integer(host->context, "fails", &fails) == RELAY_OK) verdict->code = (int32_t)fails;
  return 0;
}

static int32_t target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                              relay_verdict *verdict) {
  result.calls++;
  if (instance != &result) broken("the target gets the instance that it made");
  const relay_text texts[] = {delivery->file_name,   delivery->media_type,  delivery->content_encoding,
                              delivery->pipeline_id, delivery->artifact_id, delivery->message_id};
  for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) look_at(texts[index]);
  for (uint64_t index = 0; index < delivery->attribute_count; index++) {
    look_at(delivery->attributes[index].name);
    look_at(delivery->attributes[index].value);
  }
  look_at_settings(host);
  if (delivery->part_index % 2 == 1) use_state(host, RELAY_STATE_DELIVERY);
  if (delivery->part_index % 3 == 1) {
    int32_t file = -1;
    if (host->scratch(host->context, 10, &file) == RELAY_OK) fuzz_close(file);
  }
  uint8_t bytes[10];
  int64_t got;
  uint64_t all = 0;
  while ((got = host->read(host->context, bytes, sizeof bytes)) > 0) all += (uint64_t)got;
  if (got == 0 && all != delivery->length) broken("a part that was read whole has its length");
  host->set_message(host->context, (const char *)bytes, sizeof bytes);
  host->set_receipt(host->context, delivery->delivery_id.bytes, delivery->delivery_id.length);
  host->log(host->context, RELAY_LOG_INFO, delivery->pipeline_name.bytes, delivery->pipeline_name.length);
  verdict->code = RELAY_DELIVERED;
  return 0;
}

static int32_t target_check(const relay_host *host, void *instance, relay_verdict *verdict) {
  (void)instance;
  (void)verdict;
  result.calls++;
  use_state(host, RELAY_STATE_PIPELINE);
  return host->should_stop(host->context);
}

static void target_close(void *instance) { (void)instance; }

void *fuzz_dlopen(const char *path, int flags) {
  (void)flags;
  touched += strlen(path);
  return &result;
}

void *fuzz_dlsym(void *library, const char *name) {
  (void)library;
  static const struct {
    const char *name;
    void (*function)(void);
  } functions[] = {
      {"relay_target_abi", (void (*)(void))target_abi},       {"relay_target_describe", (void (*)(void))target_describe},
      {"relay_target_open", (void (*)(void))target_open},     {"relay_target_deliver", (void (*)(void))target_deliver},
      {"relay_target_check", (void (*)(void))target_check},   {"relay_target_close", (void (*)(void))target_close},
  };
  for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
    void *address;
    if (strcmp(functions[index].name, name) != 0) continue;
    memcpy(&address, &functions[index].function, sizeof address);
    return address;
  }
  return NULL;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

static void begin_anew(void) {
  memset(&worker, 0, sizeof worker);
  worker.pid = getpid();
  worker.caller = pthread_self();
  atomic_store(&worker.cancel, -1);
  pending_first = pending_last = NULL;
  pending_count = descriptor_count = 0;
  state = NOT_OPEN;
  memset(&open_verdict, 0, sizeof open_verdict);
  memset(&base, 0, sizeof base);
  memset(&overlay, 0, sizeof overlay);
  memset(&secrets, 0, sizeof secrets);
  json = (relay_text){NULL, 0};
  all_kept = NULL;
  memset(&source, 0, sizeof source);
  source.fd = -1;
}

static void give_back(void) {
  while (blocks.next != &blocks) fuzz_free(blocks.next + 1);
  while (open_count > 0) fuzz_close(open_files[open_count - 1]);
}

struct fuzz_worker_result fuzz_worker_run(const uint8_t *bytes, size_t count, size_t piece) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static char *arguments[] = {(char *)"relay-worker", (char *)"1", NULL};
  pthread_mutex_lock(&one_at_a_time);
  memset(&result, 0, sizeof result);
  input = bytes;
  input_left = count;
  input_piece = piece;
  until_frame = 0;
  begin_anew();
  if (setjmp(leave) == 0) worker_main(2, arguments);
  give_back();
  struct fuzz_worker_result done = result;
  pthread_mutex_unlock(&one_at_a_time);
  return done;
}
