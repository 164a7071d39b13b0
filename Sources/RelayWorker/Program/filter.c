/* SPDX-License-Identifier: Apache-2.0
 *
 * Which system calls the target may make: two filters of libseccomp, for all threads, for good. The first knows the names
 * (call_names.h); the second takes back what its arguments make a call for more than itself. A call that is denied answers
 * EPERM, so that a target can say what it wasn't allowed; one of another architecture's numbers ends the process.
 *
 * Who listens (seccomp_unotify(2)) is told of a denied call that no delivery needs, and answers it; where nobody can, because the
 * kernel is older or somebody listens further out already, it is denied all the same, without a word. The second filter is there
 * twice for that. The host's own also has it asked about files by path, which it lets through to Landlock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_names.h"
#include "confinement.h"

/* Numbers that older headers lack. */
#define CLONE_NEW_ANY 0x7E020000u       /* every CLONE_NEW… that clone takes */
#define SET_PTRACER 0x59616d61u
#define SCHED_CORE 62
#define INT 0xFFFFFFFFu                 /* what the kernel takes of an argument that is an int */

static const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
static uint32_t told;                   /* the same, or asking who listens */

/* Conditions on an argument. IS is for an int, whatever stands in the upper half of its register. */
#define ISNT(index, value) ((struct scmp_arg_cmp){(index), SCMP_CMP_NE, (value), 0})
#define ABOVE(index, value) ((struct scmp_arg_cmp){(index), SCMP_CMP_GT, (value), 0})
#define BITS(index, mask, value) ((struct scmp_arg_cmp){(index), SCMP_CMP_MASKED_EQ, (mask), (value)})
#define IS(index, value) BITS((index), INT, (uint32_t)(value))

static int number(const char *name) {
  int found = seccomp_syscall_resolve_name(name);
  return found == __NR_SCMP_ERROR ? -1 : found;
}

/* A call of this name, or nothing where there is none. Negative numbers are calls that this machine doesn't have. */
static int rule(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count,
                const struct scmp_arg_cmp *conditions) {
  int call = number(name);
  return call < 0 ? 0 : seccomp_rule_add_array(filter, action, call, count, conditions);
}

#define RULE(action, name, ...) \
  rule(filter, action, name, sizeof((struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp), \
       (struct scmp_arg_cmp[]){__VA_ARGS__})
#define DENY(name, ...) RULE(deny, name, __VA_ARGS__)
#define TELL(name, ...) RULE(told, name, __VA_ARGS__)

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* All calls of a list, whatever their arguments. */
static int rules(scmp_filter_ctx filter, uint32_t action, const char *const names[], size_t count) {
  int error = 0;
  for (size_t i = 0; i < count && error == 0; i++) error = rule(filter, action, names[i], 0, NULL);
  return error;
}

/* 0 or an errno value, which tells a kernel without filters from a machine without memory. */
static int new_filter(uint32_t otherwise, scmp_filter_ctx *filter) {
  *filter = seccomp_init(otherwise);
  if (*filter == NULL) return ENOMEM;
  int error = -seccomp_attr_set(*filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (error == 0) error = -seccomp_attr_set(*filter, SCMP_FLTATR_CTL_TSYNC, 1);
  if (error != 0) seccomp_release(*filter);
  return error;
}

/* All known names, so that what isn't known doesn't exist. clone3 stays unknown: its flags lie in memory, where no filter can
 * look; the C library then takes clone. */
static int by_name(scmp_filter_ctx filter) {
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  int error = rules(filter, SCMP_ACT_ALLOW, allowed_calls, COUNT(allowed_calls));
  if (!error) error = rules(filter, SCMP_ACT_ALLOW, told_calls, COUNT(told_calls));
  if (!error) error = rules(filter, SCMP_ACT_ALLOW, denied_calls, COUNT(denied_calls));
  return error;
}

static int signals_and_threads(scmp_filter_ctx filter, pid_t self) {
  static const char *const senders[] = {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"};
  int error = 0;
  for (size_t i = 0; i < sizeof senders / sizeof *senders && error == 0; i++)
    error = TELL(senders[i], ISNT(0, (uint32_t)self));
  /* Threads, no processes, and no namespaces with either. */
  if (!error) error = TELL("clone", BITS(0, CLONE_THREAD, 0));
  for (uint32_t bit = 1; bit != 0 && !error; bit <<= 1)
    if (CLONE_NEW_ANY & bit) error = TELL("clone", BITS(0, bit | CLONE_THREAD, bit | CLONE_THREAD));
  /* Another process's limits, places and turns. Its own number is 0 to these. */
  if (!error) error = TELL("prlimit64", ISNT(0, 0));
  static const char *const others[] = {"sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"};
  for (size_t i = 0; i < sizeof others / sizeof *others && !error; i++)
    error = DENY(others[i], ISNT(0, 0));
  if (!error) error = DENY("setpriority", ISNT(0, 0));
  if (!error) error = DENY("setpriority", IS(0, 0), ISNT(1, 0));
  return error;
}

static int own_process(scmp_filter_ctx filter) {
  static const int options[] = {PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_KEEPCAPS, PR_SET_SECUREBITS,
                                PR_CAP_AMBIENT, PR_CAPBSET_DROP, PR_SET_MM, PR_MCE_KILL, PR_SET_CHILD_SUBREAPER,
                                PR_TASK_PERF_EVENTS_ENABLE, PR_TASK_PERF_EVENTS_DISABLE, (int)SET_PTRACER, SCHED_CORE};
  int error = 0;
  for (size_t i = 0; i < sizeof options / sizeof *options && !error; i++) error = TELL("prctl", IS(0, options[i]));
  return error;
}

static int sockets(scmp_filter_ctx filter) {
  int error = 0;
  for (int family = 0; family <= AF_NETLINK && !error; family++)
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
      error = TELL("socket", IS(0, family));
  /* The C library looks for a name service's socket at each name that is looked up: too ordinary to be told. */
  if (!error) error = DENY("socket", IS(0, AF_UNIX));
  if (!error) error = TELL("socket", ABOVE(0, AF_NETLINK));
  /* Of netlink only routes, which name resolution asks for the machine's addresses. */
  if (!error) error = TELL("socket", IS(0, AF_NETLINK), ISNT(2, 0));
  /* A pair of datagram sockets could send to other addresses. */
  for (int kind = 0; kind < 16 && !error; kind++)
    if (kind != SOCK_STREAM && kind != SOCK_SEQPACKET)
      error = TELL("socketpair", BITS(1, 0xF, (uint32_t)kind));
  return error;
}

static int descriptors(scmp_filter_ctx filter, int landlock) {
  /* Signals through the owner of a descriptor, and watching folders; input put into a terminal. */
  static const int controls[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE};
  static const unsigned requests[] = {0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */, 0x5412 /* TIOCSTI */,
                                      0x541C /* TIOCLINUX */};
  int error = 0;
  for (size_t i = 0; i < sizeof controls / sizeof *controls && !error; i++) error = TELL("fcntl", IS(1, controls[i]));
  for (size_t i = 0; i < sizeof requests / sizeof *requests && !error; i++) error = TELL("ioctl", IS(1, requests[i]));
  /* Times of an open file only: the path is absent then. */
  if (!error) error = TELL("utimensat", ISNT(1, 0));
  if (landlock >= 3) return error;
  /* What Landlock has no right for yet: cutting by path, and by opening for reading. */
  if (!error) error = rule(filter, told, "truncate", 0, NULL);
  if (!error) error = TELL("open", BITS(1, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY));
  if (!error) error = TELL("openat", BITS(2, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY));
  return error;
}

/* Files that give whoever runs them the rights of their owner. */
static int modes(scmp_filter_ctx filter) {
  static const uint32_t bits[] = {S_ISUID, S_ISGID};
  int error = 0;
  for (size_t i = 0; i < sizeof bits / sizeof *bits && !error; i++) {
    error = TELL("fchmod", BITS(1, bits[i], bits[i]));
    if (!error) error = TELL("creat", BITS(1, bits[i], bits[i]));
    if (!error) error = TELL("mknod", BITS(1, bits[i], bits[i]));
    if (!error) error = TELL("mknodat", BITS(2, bits[i], bits[i]));
    /* A mode means something only where a file is made. */
    static const uint32_t making[] = {O_CREAT, O_TMPFILE & ~(uint32_t)O_DIRECTORY};
    for (size_t j = 0; j < sizeof making / sizeof *making && !error; j++) {
      error = TELL("open", BITS(1, making[j], making[j]), BITS(2, bits[i], bits[i]));
      if (!error) error = TELL("openat", BITS(2, making[j], making[j]), BITS(3, bits[i], bits[i]));
    }
  }
  /* It hides its mode, and its flags, in memory. */
  return error ? error : rule(filter, SCMP_ACT_ERRNO(ENOSYS), "openat2", 0, NULL);
}

static int watched(scmp_filter_ctx filter) {
  int error = rules(filter, told, watched_calls, COUNT(watched_calls));
  for (size_t i = 0; i < COUNT(watched_calls_at) && !error; i++)
    error = TELL(watched_calls_at[i].name, IS(watched_calls_at[i].folder, AT_FDCWD));
  return error;
}

static int by_argument(scmp_filter_ctx filter, pid_t self, int landlock, bool watches) {
  int error = rules(filter, told, told_calls, COUNT(told_calls));
  if (!error) error = rules(filter, deny, denied_calls, COUNT(denied_calls));
  if (!error) error = signals_and_threads(filter, self);
  if (!error) error = own_process(filter);
  if (!error) error = sockets(filter);
  if (!error) error = descriptors(filter, landlock);
  if (!error) error = modes(filter);
  if (!error && watches) error = watched(filter);
  return error;
}

/* --- Making both --------------------------------------------------------------------------------------------------
 * Making them takes libseccomp ten times as long as the kernel takes to put them into force. The host has it done once, for
 * a process number that nobody has, and hands the programs to every worker: three times a u32 count and so many instructions, for
 * names, for arguments with somebody who listens, and without. */

#define MOST_BYTES (CALL_PROGRAMS * (sizeof(uint32_t) + CALL_MOST_INSTRUCTIONS * sizeof(struct sock_filter)))

static uint8_t made[MOST_BYTES];

/* Puts a filter's program behind what was made so far, and lets the filter go. 0 or an errno value. */
static int put_program(scmp_filter_ctx filter, size_t *length) {
  int file = memfd_create("filter", MFD_CLOEXEC), error = file < 0 ? errno : -seccomp_export_bpf(filter, file);
  seccomp_release(filter);
  off_t size = error == 0 ? lseek(file, 0, SEEK_END) : 0;
  uint32_t count = (uint32_t)((size_t)size / sizeof(struct sock_filter));
  if (error == 0 && (count == 0 || count > CALL_MOST_INSTRUCTIONS)) error = E2BIG;
  if (error == 0) {
    memcpy(made + *length, &count, sizeof count);
    *length += sizeof count;
    if (pread(file, made + *length, (size_t)size, 0) != size) error = EIO;
    *length += (size_t)size;
  }
  if (file >= 0) close(file);
  return error;
}

static int put_names(size_t *length) {
  scmp_filter_ctx filter;
  int error = new_filter(SCMP_ACT_ERRNO(ENOSYS), &filter);
  if (error != 0) return error;
  error = -by_name(filter);
  if (error == 0) return put_program(filter, length);
  seccomp_release(filter);
  return error;
}

static int put_arguments(pid_t self, int landlock, uint32_t action, bool watches, size_t *length) {
  scmp_filter_ctx filter;
  int error = new_filter(SCMP_ACT_ALLOW, &filter);
  if (error != 0) return error;
  told = action;
  error = -by_argument(filter, self, landlock, watches);
  if (error == 0) return put_program(filter, length);
  seccomp_release(filter);
  return error;
}

/* Fills `made`. 0 or an errno value. */
static int make(pid_t self, int landlock, bool watches, size_t *length) {
  *length = 0;
  int error = put_names(length);
  if (error != 0) return error;
  /* Where libseccomp doesn't know how to ask, nobody is. */
  if (put_arguments(self, landlock, SCMP_ACT_NOTIFY, watches, length) != 0) error = put_arguments(self, landlock, deny, false, length);
  return error != 0 ? error : put_arguments(self, landlock, deny, false, length);
}

/* The number of a call that a listener is told, by name: u32 number, u32 length, name. Counted where `out` is NULL. */
static uint32_t put_number(const char *name, FILE *out) {
  uint32_t head[2] = {(uint32_t)number(name), (uint32_t)strlen(name)};
  if (number(name) < 0) return 0;
  if (out != NULL) {
    fwrite(head, sizeof head, 1, out);
    fputs(name, out);
  }
  return 1;
}

static uint32_t put_numbers(FILE *out) {
  uint32_t count = 0;
  for (size_t i = 0; i < COUNT(told_calls); i++) count += put_number(told_calls[i], out);
  for (size_t i = 0; i < COUNT(told_by_argument); i++) count += put_number(told_by_argument[i], out);
  for (size_t i = 0; i < COUNT(watched_calls); i++) count += put_number(watched_calls[i], out);
  for (size_t i = 0; i < COUNT(watched_calls_at); i++) count += put_number(watched_calls_at[i].name, out);
  return count;
}

int calls_print(int landlock) {
  size_t length;
  if (make(CALL_NOBODY, landlock, true, &length) != 0) return 1;
  uint32_t count = put_numbers(NULL);
  fwrite(made, length, 1, stdout);
  fwrite(&count, sizeof count, 1, stdout);
  put_numbers(stdout);
  return fflush(stdout) == 0 ? 0 : 1;
}

bool calls_confine(pid_t self, int landlock, relay_text handed, int *listener, const char **call, int *error) {
  *listener = -1;
  *call = "seccomp";
  if (handed.length > 0) return calls_enforce(self, (const uint8_t *)handed.bytes, handed.length, listener, error);
  size_t length;
  *error = make(self, landlock, false, &length);
  if (*error != 0) *call = "seccomp_rule_add";
  return *error == 0 && calls_enforce(self, made, length, listener, error);
}
