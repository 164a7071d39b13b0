/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts filters of system calls into force that filter.c made, here or in the host's name beforehand.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confinement.h"

#define WAIT_KILLABLE_RECV (1u << 5)    /* of Linux 5.19 */

static bool is_asking(const struct sock_fprog *program) {
  for (unsigned at = 0; at < program->len; at++)
    if (program->filter[at].code == (BPF_RET | BPF_K) && program->filter[at].k == SECCOMP_RET_USER_NOTIF) return true;
  return false;
}

/* --- The loader ---------------------------------------------------------------------------------------------------
 * A target comes with some thirty libraries, each of which the loader opens by its whole path. Nobody need be asked about that: it
 * reads, and Landlock says what. So its own code, which isn't the C library's, opens for reading unasked. */

struct range {
  uint64_t start, end;
};

static int find_code(struct dl_phdr_info *object, size_t size, void *found) {
  (void)size;
  if (object->dlpi_addr != getauxval(AT_BASE)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    uint64_t start = object->dlpi_addr + part->p_vaddr;
    *(struct range *)found = (struct range){start, start + part->p_memsz};
    return 1;
  }
  return 1;
}

/* Empty where there is no loader, or it is the C library too, or lies so that a filter of 32-bit words can't tell. */
static struct range loader(void) {
  struct range code = {0, 0}, none = {0, 0};
  if (getauxval(AT_BASE) != 0) dl_iterate_phdr(find_code, &code);
  uint64_t library = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "openat");
  bool is_library = library >= code.start && library < code.end;
  return is_library || code.start >> 32 != code.end >> 32 ? none : code;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW(field) (offsetof(struct seccomp_data, field))
#define HIGH(field) (LOW(field) + 4)
#else
#define HIGH(field) (offsetof(struct seccomp_data, field))
#define LOW(field) (HIGH(field) + 4)
#endif
#define LOAD(where) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (where))
#define UNLESS(how, value, skip) BPF_JUMP(BPF_JMP | (how) | BPF_K, (uint32_t)(value), 0, (skip))

/* Puts in front of a program that the loader may open for reading; the program stands behind room for that. */
#define FRONT 10
static void let_loader_read(struct sock_fprog *program) {
  struct range code = loader();
  if (code.start == code.end || program->len > USHRT_MAX - FRONT) return;
  struct sock_filter front[FRONT] = {
      LOAD(offsetof(struct seccomp_data, nr)), UNLESS(BPF_JEQ, SYS_openat, 8),
      LOAD(LOW(args[2])), UNLESS(BPF_JEQ, O_RDONLY | O_CLOEXEC, 6),
      LOAD(HIGH(instruction_pointer)), UNLESS(BPF_JEQ, code.start >> 32, 4),
      LOAD(LOW(instruction_pointer)), UNLESS(BPF_JGE, code.start, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)code.end, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  program->filter -= FRONT;
  program->len = (unsigned short)(program->len + FRONT);
  memcpy(program->filter, front, sizeof front);
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

static long install(unsigned flags, struct sock_fprog *program) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
}

/* A descriptor on which the program's questions come, -1 if nobody can listen. */
static int listen_to(struct sock_fprog *program) {
  /* A signal must not take back a question that has been read: the target would see a call interrupted that never is. Younger
   * than listening itself. */
  unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH | SECCOMP_FILTER_FLAG_NEW_LISTENER;
  if (!is_asking(program)) return -1;
  let_loader_read(program);
  int listener = (int)install(flags | WAIT_KILLABLE_RECV, program);
  return listener >= 0 || errno != EINVAL ? listener : (int)install(flags, program);
}

/* Takes one program off what was handed; false if there is none. */
static bool take_program(const uint8_t **bytes, size_t *length, pid_t self, struct sock_fprog *program) {
  uint32_t count;
  if (*length < sizeof count) return false;
  memcpy(&count, *bytes, sizeof count);
  *bytes += sizeof count, *length -= sizeof count;
  size_t size = count * sizeof *program->filter;
  if (count == 0 || count > CALL_MOST_INSTRUCTIONS || size > *length) return false;
  memcpy(program->filter, *bytes, size);
  *bytes += size, *length -= size;
  program->len = (unsigned short)count;
  for (uint32_t at = 0; at < count; at++)
    if (program->filter[at].k == CALL_NOBODY) program->filter[at].k = (uint32_t)self;
  return true;
}

bool calls_enforce(pid_t self, const uint8_t *bytes, size_t length, int *listener, int *error) {
  static struct sock_filter instructions[CALL_PROGRAMS][FRONT + CALL_MOST_INSTRUCTIONS];
  struct sock_fprog programs[CALL_PROGRAMS];
  for (int i = 0; i < CALL_PROGRAMS; i++) {
    programs[i].filter = instructions[i] + FRONT;
    *error = EINVAL;
    if (!take_program(&bytes, &length, self, &programs[i])) return false;
  }
  bool done = install(SECCOMP_FILTER_FLAG_TSYNC, &programs[0]) == 0;
  if (done) *listener = listen_to(&programs[1]);
  if (done && *listener < 0) done = install(SECCOMP_FILTER_FLAG_TSYNC, &programs[2]) == 0;
  if (!done) *error = errno;
  return done;
}
