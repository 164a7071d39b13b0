/* SPDX-License-Identifier: Apache-2.0
 *
 * Which system calls the target may make: two filters of libseccomp, for all threads, for good. The first knows the names
 * (call_names.h); the second takes back what its arguments make a call for more than itself. A call that is denied answers
 * EPERM, so that a target can say what it wasn't allowed; one of another architecture's numbers ends the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
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

#define DENY(name, ...) \
  rule(filter, deny, name, sizeof((struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp), \
       (struct scmp_arg_cmp[]){__VA_ARGS__})

static scmp_filter_ctx new_filter(uint32_t otherwise) {
  scmp_filter_ctx filter = seccomp_init(otherwise);
  if (filter == NULL) return NULL;
  if (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0 ||
      seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) != 0) {
    seccomp_release(filter);
    return NULL;
  }
  return filter;
}

/* All known names, so that what isn't known doesn't exist. clone3 stays unknown: its flags lie in memory, where no filter can
 * look; the C library then takes clone. */
static int by_name(scmp_filter_ctx filter) {
  int error = 0;
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  for (size_t i = 0; i < sizeof allowed_calls / sizeof *allowed_calls && error == 0; i++)
    error = rule(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0, NULL);
  for (size_t i = 0; i < sizeof denied_calls / sizeof *denied_calls && error == 0; i++)
    error = rule(filter, SCMP_ACT_ALLOW, denied_calls[i], 0, NULL);
  return error;
}

static int signals_and_threads(scmp_filter_ctx filter, pid_t self) {
  static const char *const senders[] = {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"};
  int error = 0;
  for (size_t i = 0; i < sizeof senders / sizeof *senders && error == 0; i++)
    error = DENY(senders[i], ISNT(0, (uint32_t)self));
  /* Threads, no processes, and no namespaces with either. */
  if (!error) error = DENY("clone", BITS(0, CLONE_THREAD, 0));
  for (uint32_t bit = 1; bit != 0 && !error; bit <<= 1)
    if (CLONE_NEW_ANY & bit) error = DENY("clone", BITS(0, bit | CLONE_THREAD, bit | CLONE_THREAD));
  /* Another process's limits, places and turns. Its own number is 0 to these. */
  static const char *const others[] = {"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam",
                                       "sched_setscheduler"};
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
  for (size_t i = 0; i < sizeof options / sizeof *options && !error; i++) error = DENY("prctl", IS(0, options[i]));
  return error;
}

static int sockets(scmp_filter_ctx filter) {
  int error = 0;
  for (int family = 0; family <= AF_NETLINK && !error; family++)
    if (family != AF_INET && family != AF_INET6 && family != AF_NETLINK) error = DENY("socket", IS(0, family));
  if (!error) error = DENY("socket", ABOVE(0, AF_NETLINK));
  /* Of netlink only routes, which name resolution asks for the machine's addresses. */
  if (!error) error = DENY("socket", IS(0, AF_NETLINK), ISNT(2, 0));
  /* A pair of datagram sockets could send to other addresses. */
  for (int kind = 0; kind < 16 && !error; kind++)
    if (kind != SOCK_STREAM && kind != SOCK_SEQPACKET)
      error = DENY("socketpair", BITS(1, 0xF, (uint32_t)kind));
  return error;
}

static int descriptors(scmp_filter_ctx filter, int landlock) {
  /* Signals through the owner of a descriptor, and watching folders; input put into a terminal. */
  static const int controls[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE};
  static const unsigned requests[] = {0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */, 0x5412 /* TIOCSTI */,
                                      0x541C /* TIOCLINUX */};
  int error = 0;
  for (size_t i = 0; i < sizeof controls / sizeof *controls && !error; i++) error = DENY("fcntl", IS(1, controls[i]));
  for (size_t i = 0; i < sizeof requests / sizeof *requests && !error; i++) error = DENY("ioctl", IS(1, requests[i]));
  /* Times of an open file only: the path is absent then. */
  if (!error) error = DENY("utimensat", ISNT(1, 0));
  if (landlock >= 3) return error;
  /* What Landlock has no right for yet: cutting by path, and by opening for reading; openat2 hides its flags in memory. */
  if (!error) error = rule(filter, deny, "truncate", 0, NULL);
  if (!error) error = rule(filter, SCMP_ACT_ERRNO(ENOSYS), "openat2", 0, NULL);
  if (!error) error = DENY("open", BITS(1, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY));
  if (!error) error = DENY("openat", BITS(2, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY));
  return error;
}

static int by_argument(scmp_filter_ctx filter, pid_t self, int landlock) {
  int error = 0;
  for (size_t i = 0; i < sizeof denied_calls / sizeof *denied_calls && error == 0; i++)
    error = rule(filter, deny, denied_calls[i], 0, NULL);
  if (!error) error = signals_and_threads(filter, self);
  if (!error) error = own_process(filter);
  if (!error) error = sockets(filter);
  if (!error) error = descriptors(filter, landlock);
  return error;
}

/* --- Making both ------------------------------------------------------------------------------------------------- */

struct pair {
  scmp_filter_ctx names, arguments;
};

static void release(struct pair *pair) {
  if (pair->names != NULL) seccomp_release(pair->names);
  if (pair->arguments != NULL) seccomp_release(pair->arguments);
}

/* 0 or an errno value. */
static int make(struct pair *pair, pid_t self, int landlock) {
  pair->names = new_filter(SCMP_ACT_ERRNO(ENOSYS));
  pair->arguments = new_filter(SCMP_ACT_ALLOW);
  if (pair->names == NULL || pair->arguments == NULL) return ENOMEM;
  int wrong = by_name(pair->names);
  return -(wrong ? wrong : by_argument(pair->arguments, self, landlock));
}

static bool build_and_load(pid_t self, int landlock, const char **call, int *error) {
  struct pair pair;
  *call = "seccomp_rule_add";
  *error = make(&pair, self, landlock);
  if (*error == 0) {
    *call = "seccomp_load";
    *error = -seccomp_load(pair.names);
    /* The last one decides where both deny. */
    if (*error == 0) *error = -seccomp_load(pair.arguments);
  }
  release(&pair);
  return *error == 0;
}

/* --- Made beforehand ----------------------------------------------------------------------------------------------
 * Making them takes libseccomp ten times as long as the kernel takes to put them into force. The host has it done once, for
 * a process number that nobody has, and hands the programs to every worker: twice a u32 count and so many instructions. */

#define NOBODY 0x7E1A7E1A
#define MOST_INSTRUCTIONS 4096u

int calls_print(int landlock) {
  struct pair pair;
  int error = make(&pair, NOBODY, landlock);
  scmp_filter_ctx filters[] = {pair.names, pair.arguments};
  for (size_t i = 0; i < 2 && error == 0; i++) {
    int file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0 || seccomp_export_bpf(filters[i], file) != 0) return 1;
    off_t size = lseek(file, 0, SEEK_END);
    uint32_t count = (uint32_t)((size_t)size / sizeof(struct sock_filter));
    if (write(STDOUT_FILENO, &count, sizeof count) != sizeof count) return 1;
    off_t from = 0;
    if (sendfile(STDOUT_FILENO, file, &from, (size_t)size) != size) return 1;
    close(file);
  }
  release(&pair);
  return error == 0 ? 0 : 1;
}

static bool load_made(pid_t self, const uint8_t *bytes, size_t length, const char **call, int *error) {
  static struct sock_filter instructions[MOST_INSTRUCTIONS];
  *call = "seccomp";
  *error = EINVAL;
  for (int i = 0; i < 2; i++) {
    uint32_t count;
    if (length < sizeof count) return false;
    memcpy(&count, bytes, sizeof count);
    bytes += sizeof count, length -= sizeof count;
    size_t size = count * sizeof *instructions;
    if (count == 0 || count > MOST_INSTRUCTIONS || size > length) return false;
    memcpy(instructions, bytes, size);
    bytes += size, length -= size;
    for (uint32_t at = 0; at < count; at++)
      if (instructions[at].k == NOBODY) instructions[at].k = (uint32_t)self;
    struct sock_fprog program = {(unsigned short)count, instructions};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
      *error = errno;
      return false;
    }
  }
  return true;
}

bool calls_confine(pid_t self, int landlock, relay_text made, const char **call, int *error) {
  if (made.length > 0) return load_made(self, (const uint8_t *)made.bytes, made.length, call, error);
  return build_and_load(self, landlock, call, error);
}
