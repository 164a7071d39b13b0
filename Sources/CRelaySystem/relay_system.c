/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "relay_system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int relay_open_at(int folder, const char *name, int flags, unsigned mode) {
  return openat(folder, name, flags | O_CLOEXEC, mode);
}

int relay_rename_at(int from_folder, const char *from, int to_folder, const char *to, int exclusive) {
  if (!exclusive) return renameat(from_folder, from, to_folder, to);
  return renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

int relay_syncfs(int fd) { return syncfs(fd); }

int relay_unnamed_file(int folder, unsigned mode) {
  return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int relay_take_read_lease(int fd) {
  /* Whoever opens the file for writing waits for us; the signal that tells of it is of no use here. */
  if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -1;
  return fcntl(fd, F_SETLEASE, F_RDLCK);
}

int relay_holds_lease(int fd) { return fcntl(fd, F_GETLEASE) == F_RDLCK; }

int relay_release_lease(int fd) { return fcntl(fd, F_SETLEASE, F_UNLCK); }

int relay_clone_file(int to, int from) { return ioctl(to, FICLONE, from); }

int relay_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int relay_epoll_set(int epoll, int fd, uint32_t events, uint64_t token, int is_new) {
  struct epoll_event event = {.events = events, .data = {.u64 = token}};
  return epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

int relay_epoll_remove(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

int relay_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity, int timeout_ms) {
  struct epoll_event found[64];
  int count = epoll_wait(epoll, found, capacity < 64 ? capacity : 64, timeout_ms);
  for (int i = 0; i < count; i++) {
    tokens[i] = found[i].data.u64;
    events[i] = found[i].events;
  }
  return count;
}

int relay_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int relay_signalfd(const int *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < count; i++) sigaddset(&set, signals[i]);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int relay_next_signal(int fd) {
  struct signalfd_siginfo info;
  return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

int relay_ignore_signal(int signal_number) { return signal(signal_number, SIG_IGN) == SIG_ERR ? -1 : 0; }

int relay_pidfd_open(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

int relay_spawn(const relay_spawn_request *request, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  /* In rising order, and the host keeps 0 to 2 open: a copy is never overwritten before it was used. */
  for (size_t i = 0; i < request->descriptor_count && !error; i++)
    error = posix_spawn_file_actions_adddup2(&actions, request->descriptors[i], (int)i);
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, (int)request->descriptor_count);
  if (!error && request->folder) error = posix_spawn_file_actions_addchdir_np(&actions, request->folder);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
  if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
  if (!error)
    error = posix_spawnattr_setflags(&attributes,
                                     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  if (!error)
    error = posix_spawn(pid, request->program, &actions, &attributes, request->arguments, request->environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int64_t relay_clock(int clock_id) {
  struct timespec now = {0, 0};
  clock_gettime((clockid_t)clock_id, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int relay_random(void *bytes, size_t length) {
  char *at = bytes;
  while (length > 0) {
    ssize_t got = getrandom(at, length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    at += got;
    length -= (size_t)got;
  }
  return 0;
}

int32_t relay_local_offset(int64_t unix_seconds) {
  time_t when = (time_t)unix_seconds;
  struct tm local;
  return localtime_r(&when, &local) ? (int32_t)local.tm_gmtoff : 0;
}

int relay_inotify_create(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

int relay_inotify_add(int fd, const char *path, uint32_t mask) { return inotify_add_watch(fd, path, mask); }

int relay_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int relay_landlock_level(void) { return (int)syscall(444, NULL, 0, 1u); }

int relay_has_seccomp_filter(void) {
  /* With no filter at all to load it asks for one: EFAULT says that it would have taken one. */
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT;
}

#define TAKE_TURNS _IOW('!', 4, uint64_t)   /* SECCOMP_IOCTL_NOTIF_SET_FLAGS, which older headers lack */

void relay_listen_in_turns(int listener) { ioctl(listener, TAKE_TURNS, 1ul /* SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP */); }

int relay_next_call(int listener, struct relay_call *call) {
  for (;;) {
    /* Asked first, since the call after it doesn't end with the last caller. */
    struct pollfd ready = {listener, POLLIN, 0};
    int found = poll(&ready, 1, -1);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return -1;
    if ((ready.revents & POLLIN) == 0) return 0;
    /* A kernel that knows more of it writes more. */
    union {
      struct seccomp_notif told;
      char room[512];
    } asked;
    memset(&asked, 0, sizeof asked);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked.told) == 0) {
      *call = (struct relay_call){.id = asked.told.id, .number = asked.told.data.nr, .process = asked.told.pid};
      for (int i = 0; i < 6; i++) call->arguments[i] = asked.told.data.args[i];
      return 1;
    }
    /* Whoever called was interrupted meanwhile. */
    if (errno != ENOENT && errno != EINTR) return -1;
  }
}

void relay_answer_call(int listener, uint64_t id, int error) {
  struct seccomp_notif_resp reply = {
      .id = id, .error = -error, .flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
  while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0 && errno == EINTR) {}
}

void relay_wait_for_callers(int listener, int milliseconds) {
  struct pollfd ended = {listener, 0, 0};
  poll(&ended, 1, milliseconds);
}

ssize_t relay_read_text(int memory, uint64_t address, char *text, size_t most) {
  if (address > INT64_MAX) return -1;
  ssize_t got = pread(memory, text, most, (off_t)address);
  const char *end = got > 0 ? memchr(text, 0, (size_t)got) : NULL;
  return end != NULL ? end - text : -1;
}

int relay_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

pid_t relay_ended_child(void) {
  siginfo_t about = {0};
  return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 ? about.si_pid : 0;
}
