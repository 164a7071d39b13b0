/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_shim.so, preloaded into a program under test: counts its durable and network calls over all threads, and strikes the
 * Nth. It also shifts the clocks. The calls that pass are made for real.
 */
#define _GNU_SOURCE
#include "fault_control.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* FS_IOC_SHUTDOWN of linux/fs.h, too new for some headers; 2 is "without flushing the journal". */
#define SHUTDOWN _IOR('X', 125, uint32_t)

static struct fault_control *control;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RELAY_FAULTS");
  if (!path) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (mapped != MAP_FAILED) control = mapped;
}

static int is_inside(const char *path) {
  size_t length = strnlen(control->folder, FAULT_FOLDER);
  return length == 0 || (strncmp(path, control->folder, length) == 0 && (path[length] == '/' || path[length] == 0));
}

/* Whether an open file lies in the folder; a descriptor that is no file never does. */
static int covers(int fd) {
  if (!control) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlink, link, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return 0;
  path[length] = 0;
  return is_inside(path);
}

static int covers_name(int folder, const char *name) {
  if (!control || !name) return 0;
  return name[0] == '/' || folder == AT_FDCWD ? is_inside(name) : covers(folder);
}

static void end_now(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) syscall(SYS_pause);
}

/* Counts a call. 0: make it; else it is to fail with this errno; -1: it is to be short. */
static int strike(int kind, int call) {
  if (!control || !(control->kinds & (uint64_t)kind)) return 0;
  int moves = call == CALL_WRITE || call == CALL_READ || call == CALL_SEND || call == CALL_RECEIVE;
  if (control->kinds & FAULT_TRANSFER && !moves) return 0;
  int syncs = call == CALL_SYNC || call == CALL_SYNC_DATA || call == CALL_SYNC_ALL;
  if (control->kinds & FAULT_SYNC && !syncs) return 0;
  if (control->call != CALL_ANY && control->call != (uint64_t)call) return 0;
  uint64_t number = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
  if (number <= FAULT_TRACE) control->trace[number - 1] = (uint8_t)call;
  uint64_t at = __atomic_load_n(&control->at, __ATOMIC_SEQ_CST);
  if (at == 0 || number < at || number - at >= control->times) return 0;
  __atomic_add_fetch(&control->struck, 1, __ATOMIC_SEQ_CST);
  switch (control->effect) {
    case FAULT_KILL: end_now(); return 0;
    case FAULT_POWER_CUT: {
      long fd = syscall(SYS_openat, AT_FDCWD, control->folder, O_RDONLY | O_DIRECTORY);
      uint32_t flags = 2;
      if (fd >= 0) syscall(SYS_ioctl, fd, SHUTDOWN, &flags);
      end_now();
      return 0;
    }
    case FAULT_ERRNO: return (int)control->value;
    case FAULT_SHORT: return -1;
    case FAULT_DELAY: {
      struct timespec pause = {control->value / 1000000000, control->value % 1000000000};
      syscall(SYS_nanosleep, &pause, NULL);
      return 0;
    }
    case FAULT_STOP: syscall(SYS_kill, getpid(), SIGSTOP); return 0;
    default: return 0;
  }
}

#define FAIL_IF_STRUCK(kind, call)        \
  do {                                    \
    int struck_ = strike((kind), (call)); \
    if (struck_ > 0) {                    \
      errno = struck_;                    \
      return -1;                          \
    }                                     \
  } while (0)

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Files. */

EXPORT int openat(int folder, const char *name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (covers_name(folder, name)) {
    int changes = flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) != O_RDONLY;
    FAIL_IF_STRUCK(changes ? FAULT_DURABLE : FAULT_READ, CALL_OPEN);
  }
  return (int)syscall(SYS_openat, folder, name, flags, mode);
}

EXPORT int open(const char *name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openat(AT_FDCWD, name, flags, mode);
}

static size_t shortened(int struck, size_t length) { return struck < 0 && length > 1 ? length / 2 : length; }

EXPORT ssize_t write(int fd, const void *bytes, size_t length) {
  int struck = covers(fd) ? strike(FAULT_DURABLE, CALL_WRITE) : 0;
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_write, fd, bytes, shortened(struck, length));
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  int struck = covers(fd) ? strike(FAULT_DURABLE, CALL_WRITE) : 0;
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_pwrite64, fd, bytes, shortened(struck, length), offset);
}

EXPORT ssize_t read(int fd, void *bytes, size_t length) {
  int struck = covers(fd) ? strike(FAULT_READ, CALL_READ) : 0;
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_read, fd, bytes, shortened(struck, length));
}

EXPORT ssize_t pread(int fd, void *bytes, size_t length, off_t offset) {
  int struck = covers(fd) ? strike(FAULT_READ, CALL_READ) : 0;
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_pread64, fd, bytes, shortened(struck, length), offset);
}

EXPORT int fsync(int fd) {
  if (covers(fd)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_SYNC);
  return (int)syscall(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd) {
  if (covers(fd)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_SYNC_DATA);
  return (int)syscall(SYS_fdatasync, fd);
}

EXPORT int syncfs(int fd) {
  if (covers(fd)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_SYNC_ALL);
  return (int)syscall(SYS_syncfs, fd);
}

EXPORT int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  if (covers_name(from, old) || covers_name(to, new)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_RENAME);
  return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

EXPORT int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }

EXPORT int unlinkat(int folder, const char *name, int flags) {
  if (covers_name(folder, name)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_UNLINK);
  return (int)syscall(SYS_unlinkat, folder, name, flags);
}

EXPORT int mkdirat(int folder, const char *name, mode_t mode) {
  if (covers_name(folder, name)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_MKDIR);
  return (int)syscall(SYS_mkdirat, folder, name, mode);
}

EXPORT int ftruncate(int fd, off_t length) {
  if (covers(fd)) FAIL_IF_STRUCK(FAULT_DURABLE, CALL_TRUNCATE);
  return (int)syscall(SYS_ftruncate, fd, length);
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t length) {
  int struck = covers(fd) ? strike(FAULT_DURABLE, CALL_ALLOCATE) : 0;
  return struck > 0 ? struck : REAL(posix_fallocate)(fd, offset, length);
}

/* The descriptor is gone also when close fails. */
EXPORT int close(int fd) {
  int struck = covers(fd) ? strike(FAULT_DURABLE, CALL_CLOSE) : 0;
  long result = syscall(SYS_close, fd);
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return (int)result;
}

/* Sockets. */

EXPORT int socket(int domain, int type, int protocol) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_SOCKET);
  return (int)syscall(SYS_socket, domain, type, protocol);
}

EXPORT int socketpair(int domain, int type, int protocol, int pair[2]) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_SOCKET);
  return (int)syscall(SYS_socketpair, domain, type, protocol, pair);
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_CONNECT);
  return (int)syscall(SYS_connect, fd, address, length);
}

EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_ACCEPT);
  return (int)syscall(SYS_accept4, fd, address, length, flags);
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_BIND);
  return (int)syscall(SYS_bind, fd, address, length);
}

EXPORT int listen(int fd, int backlog) {
  FAIL_IF_STRUCK(FAULT_NETWORK, CALL_LISTEN);
  return (int)syscall(SYS_listen, fd, backlog);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  int struck = strike(FAULT_NETWORK, CALL_SEND);
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  if (struck < 0 && message->msg_iovlen == 1 && message->msg_iov[0].iov_len > 1) {
    struct iovec half = {message->msg_iov[0].iov_base, message->msg_iov[0].iov_len / 2};
    struct msghdr less = *message;
    less.msg_iov = &half;
    return syscall(SYS_sendmsg, fd, &less, flags);
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  int struck = strike(FAULT_NETWORK, CALL_SEND);
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_sendto, fd, bytes, shortened(struck, length), flags, to, size);
}

EXPORT ssize_t send(int fd, const void *bytes, size_t length, int flags) { return sendto(fd, bytes, length, flags, NULL, 0); }

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  int struck = strike(FAULT_NETWORK, CALL_RECEIVE);
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  if (struck < 0 && message->msg_iovlen == 1 && message->msg_iov[0].iov_len > 1) {
    /* One byte: the rest comes with the next call. */
    struct iovec one = {message->msg_iov[0].iov_base, 1};
    struct iovec *whole = message->msg_iov;
    message->msg_iov = &one;
    ssize_t got = syscall(SYS_recvmsg, fd, message, flags);
    message->msg_iov = whole;
    return got;
  }
  return syscall(SYS_recvmsg, fd, message, flags);
}

EXPORT ssize_t recvfrom(int fd, void *bytes, size_t length, int flags, struct sockaddr *from, socklen_t *size) {
  int struck = strike(FAULT_NETWORK, CALL_RECEIVE);
  if (struck > 0) {
    errno = struck;
    return -1;
  }
  return syscall(SYS_recvfrom, fd, bytes, struck < 0 ? 1 : length, flags, from, size);
}

EXPORT ssize_t recv(int fd, void *bytes, size_t length, int flags) { return recvfrom(fd, bytes, length, flags, NULL, NULL); }

/* Processes. */

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  int struck = strike(FAULT_PROCESS, CALL_SPAWN);
  return struck > 0 ? struck : REAL(posix_spawn)(pid, path, actions, attributes, arguments, environment);
}

EXPORT int pipe2(int pair[2], int flags) {
  FAIL_IF_STRUCK(FAULT_PROCESS, CALL_PIPE);
  return (int)syscall(SYS_pipe2, pair, flags);
}

/* Clocks. */

static void shift(struct timespec *time, int64_t offset) {
  int64_t nanoseconds = time->tv_nsec + offset % 1000000000;
  time->tv_sec += offset / 1000000000;
  if (nanoseconds < 0) {
    nanoseconds += 1000000000;
    time->tv_sec -= 1;
  } else if (nanoseconds >= 1000000000) {
    nanoseconds -= 1000000000;
    time->tv_sec += 1;
  }
  time->tv_nsec = nanoseconds;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) real;
  if (!real) real = REAL(clock_gettime);
  int result = real(clock, time);
  if (result != 0 || !control) return result;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE: shift(time, control->wall_offset); break;
    case CLOCK_BOOTTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE: shift(time, control->boot_offset); break;
    default: break;
  }
  return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

EXPORT time_t time(time_t *where) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (where) *where = now.tv_sec;
  return now.tv_sec;
}
