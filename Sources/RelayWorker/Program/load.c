/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "confinement.h"
#include "frames.h"

#define MOST_GROUPS 64                       /* more are left out: then the user may do less, not more */

static void load_failed(uint64_t request, int32_t why, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void load_failed(uint64_t request, int32_t why, const char *format, ...) {
  char text[2048], clean[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct outgoing out = {.count = 0};
  put_u32(&out, (uint32_t)why);
  put_text(&out, clean, text_clean(clean, sizeof clean, text, strlen(text)));
  frame_send(RELAY_FRAME_LOAD_FAILED, request, &out, NULL, 0);
  worker.target.failed = true;
}

/* A function pointer out of dlsym's void pointer, which ISO C has no conversion for. */
static bool symbol(void *library, const char *name, void *function) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

/* Which function every target must have is missing, or NULL. */
static const char *find_functions(void *library, struct target *target) {
  symbol(library, "relay_target_check", &target->check);
  symbol(library, "relay_target_close", &target->close);
  if (!symbol(library, "relay_target_describe", &target->describe)) return "relay_target_describe";
  if (!symbol(library, "relay_target_open", &target->open)) return "relay_target_open";
  if (!symbol(library, "relay_target_deliver", &target->deliver)) return "relay_target_deliver";
  return NULL;
}

bool error_lasts(int error) {
  static const int lasting[] = {0, ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EISDIR, ENXIO, ENODEV, ENOEXEC,
                                ENOSYS, EOPNOTSUPP, EINVAL, E2BIG};
  for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
    if (error == lasting[i]) return true;
  return false;
}

static void load(uint64_t request, const char *path) {
  struct target *target = &worker.target;
  if (path == NULL || path[0] != '/') {
    load_failed(request, RELAY_LOAD_BAD_PATH, "%s isn't an absolute path", path == NULL ? "" : path);
    return;
  }
  errno = 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  int error = errno;                    /* the loader's last, good enough to tell an exhausted machine from a bad file */
  if (library == NULL) {
    const char *reason = dlerror();
    load_failed(request, error_lasts(error) ? RELAY_LOAD_CANNOT_LOAD : RELAY_LOAD_NOT_NOW, "can't be loaded: %s",
                reason != NULL ? reason : "no reason given");
    return;
  }
  if (!symbol(library, "relay_target_abi", &target->abi)) {
    load_failed(request, RELAY_LOAD_MISSING_SYMBOL, "isn't a target: it doesn't export relay_target_abi");
    return;
  }
  uint32_t abi = target->abi();
  if (abi >> 16 != RELAY_TARGET_ABI_MAJOR) {
    load_failed(request, RELAY_LOAD_ABI_MISMATCH,
                "is built for target ABI %u.%u, and this host speaks %d.%d: "
                "build it against this host's relay_target.h",
                abi >> 16, abi & 0xFFFF, RELAY_TARGET_ABI_MAJOR, RELAY_TARGET_ABI_MINOR);
    return;
  }
  const char *missing = find_functions(library, target);
  if (missing != NULL) {
    load_failed(request, RELAY_LOAD_MISSING_SYMBOL, "doesn't export %s", missing);
    return;
  }
  target->loaded = true;
  struct outgoing out = {.count = 0};
  put_u32(&out, abi);
  put_u32(&out, (target->check != NULL ? RELAY_TARGET_HAS_CHECK : 0) |
                    (target->close != NULL ? RELAY_TARGET_HAS_CLOSE : 0));
  frame_send(RELAY_FRAME_LOADED, request, &out, NULL, 0);
}

/* --- Before it is loaded ------------------------------------------------------------------------------------------ */

void call_access(struct frame *frame) {
  struct fields fields = fields_of(frame);
  if (worker.target.loaded || worker.target.failed) protocol_broken("ACCESS after LOAD");
  uint32_t count = field_count(&fields, 4);
  if (count > RELAY_ACCESS_MAXIMUM) protocol_broken("too many paths in one frame");
  for (uint32_t index = 0; index < count; index++) {
    uint32_t access = field_u32(&fields);
    files_allow_opened(frame_take_descriptor(frame, (int)index), access);
  }
  fields_end(&fields);
}

static void become(struct fields *fields) {
  uid_t user = field_u32(fields);
  gid_t group = field_u32(fields), groups[MOST_GROUPS];
  uint32_t count = field_count(fields, 4), kept = count < MOST_GROUPS ? count : MOST_GROUPS;
  for (uint32_t index = 0; index < count; index++) {
    gid_t further = field_u32(fields);
    if (index < kept) groups[index] = further;
  }
  if (geteuid() != 0) return;
  bool changed = user != RELAY_USER_STAYS ? identity_drop(user, group, groups, kept) : identity_shed_powers();
  if (!changed) protocol_broken("the powers of root can't be given up");
  setup_end_with_host();
}

static void allow_paths(struct fields *fields) {
  uint32_t count = field_count(fields, 8);
  for (uint32_t index = 0; index < count; index++) {
    relay_text path = field_present_text(fields);
    uint32_t access = field_u32(fields);
    const char *name = memchr(path.bytes, 0, path.length) == NULL ? keep(path.bytes, path.length) : NULL;
    if (name != NULL && name[0] == '/') files_allow(name, access);
  }
}

/* Tells which of RELAY_CONFINE_… are in force, and hands over where denied calls can be heard of. False if one that must be
 * had isn't. */
static bool confine(uint64_t request, uint32_t must, relay_text filter) {
  uint32_t had = RELAY_CONFINE_ALL;
  int listener = -1, error;
  const char *call;
  for (uint32_t piece = RELAY_CONFINE_FILES; piece <= RELAY_CONFINE_CALLS; piece <<= 1) {
    bool files = piece == RELAY_CONFINE_FILES;
    if (files ? files_confine(&call, &error) : calls_confine(worker.pid, files_level(), filter, &listener, &call, &error)) continue;
    if (!error_lasts(error)) {
      load_failed(request, RELAY_LOAD_NOT_NOW, "can't be confined now (%s: %s)", call, strerror(error));
      return false;
    }
    had &= ~piece;
    if ((must & piece) == 0) continue;
    load_failed(request, RELAY_LOAD_UNCONFINED, "can't be kept from %s (%s: %s)",
                files ? "files that are none of its business" : "system calls that no target needs", call, strerror(error));
    return false;
  }
  struct outgoing out = {.count = 0};
  put_u32(&out, had);
  int descriptors[] = {listener, worker.memory};
  size_t count = listener < 0 ? 0 : worker.memory > 0 ? 2 : 1;
  put_u32(&out, (uint32_t)count);
  frame_send_with(RELAY_FRAME_CONFINED, request, &out, descriptors, count);
  if (listener >= 0) close(listener);
  return true;
}

void call_load(struct frame *frame) {
  struct fields fields = fields_of(frame);
  if (field_u32(&fields) != RELAY_PROTOCOL_VERSION) protocol_broken("the host speaks another version of the protocol");
  relay_text path = field_text(&fields);
  field_text(&fields);                  /* the pipeline's id, for a reader of this process's memory only */
  static const int resources[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC};
  uint64_t limits[sizeof resources / sizeof *resources];
  for (size_t index = 0; index < sizeof resources / sizeof *resources; index++) limits[index] = field_u64(&fields);
  uint32_t must = field_u32(&fields);
  if (worker.target.loaded || worker.target.failed) protocol_broken("a second LOAD");
  become(&fields);
  allow_paths(&fields);
  relay_text filter = field_present_text(&fields);
  fields_end(&fields);
  bool has_nul = path.bytes == NULL || memchr(path.bytes, 0, path.length) != NULL;
  const char *name = has_nul ? NULL : keep(path.bytes, path.length);
  if (name != NULL && name[0] == '/') files_allow(name, RELAY_ACCESS_READ);
  bool confined = confine(frame->request, must, filter);
  if (worker.memory > 0) close(worker.memory);
  worker.memory = 0;
  for (size_t index = 0; index < sizeof resources / sizeof *resources; index++) setup_limit(resources[index], limits[index]);
  if (confined) load(frame->request, name);
  forget_kept();
}
