/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#include "frames.h"

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

static void load(uint64_t request, const char *path) {
  struct target *target = &worker.target;
  if (path == NULL || path[0] != '/') {
    load_failed(request, RELAY_LOAD_BAD_PATH, "%s isn't an absolute path", path == NULL ? "" : path);
    return;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    const char *reason = dlerror();
    load_failed(request, RELAY_LOAD_CANNOT_LOAD, "can't be loaded: %s", reason != NULL ? reason : "no reason given");
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

void call_load(struct frame *frame) {
  struct fields fields = fields_of(frame);
  if (field_u32(&fields) != RELAY_PROTOCOL_VERSION) protocol_broken("the host speaks another version of the protocol");
  relay_text path = field_text(&fields);
  field_text(&fields);                  /* the pipeline's id, for a reader of this process's memory only */
  uint64_t memory = field_u64(&fields), files = field_u64(&fields), file_size = field_u64(&fields);
  uint64_t processes = field_u64(&fields);
  fields_end(&fields);
  if (worker.target.loaded || worker.target.failed) protocol_broken("a second LOAD");
  setup_limit(RLIMIT_AS, memory);
  setup_limit(RLIMIT_NOFILE, files);
  setup_limit(RLIMIT_FSIZE, file_size);
  setup_limit(RLIMIT_NPROC, processes);
  bool has_nul = path.bytes == NULL || memchr(path.bytes, 0, path.length) != NULL;
  load(frame->request, has_nul ? NULL : keep(path.bytes, path.length));
  forget_kept();
}
