/* SPDX-License-Identifier: Apache-2.0
 *
 * lacking LANDLOCK SECCOMP PROGRAM [ARGUMENT…]: becomes the program, for which, and for what it starts, the kernel is one that
 * has less: the level LANDLOCK (0: none at all), and seccomp filters only if SECCOMP is 1. By a seccomp filter of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define FAIL(error) ANSWER(SECCOMP_RET_ERRNO | (error))

static int install(struct sock_filter *filter, unsigned short count, unsigned flags) {
  struct sock_fprog program = {count, filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* Answers the question for the level until nobody is left who could ask. */
static void answer(int listener, int level) {
  for (;;) {
    struct pollfd ready = {listener, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 || (ready.revents & POLLHUP) != 0) _exit(0);
    struct seccomp_notif asked;
    memset(&asked, 0, sizeof asked);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
    struct seccomp_notif_resp reply = {asked.id, level, 0, 0};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
  }
}

static int pass(int socket, int descriptor) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (descriptor < 0) {
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return descriptor;
  }
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int pretend(int level) {
  int line[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) return -1;
  /* Not a child of what this process becomes. */
  pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    close(line[0]);
    signal(SIGTERM, SIG_IGN);
    setsid();
    for (int i = 0; i < 3; i++) close(i);
    answer(pass(line[1], -1), level);
  }
  close(line[1]);
  waitpid(child, NULL, 0);
  struct sock_filter filter[] = {
      LOAD(nr), UNLESS(444, 3), LOAD(args[2]), UNLESS(1, 1), ANSWER(SECCOMP_RET_USER_NOTIF), ANSWER(SECCOMP_RET_ALLOW)};
  int listener = install(filter, sizeof filter / sizeof *filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (listener < 0 || pass(line[0], listener) != 0) return -1;
  close(listener);
  close(line[0]);
  return 0;
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  int level = atoi(arguments[1]), has_seccomp = atoi(arguments[2]);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 125;
  if (level > 0 && pretend(level) != 0) return 125;
  if (level == 0) {
    struct sock_filter filter[] = {LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
                                   BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0), FAIL(ENOSYS), ANSWER(SECCOMP_RET_ALLOW)};
    if (install(filter, sizeof filter / sizeof *filter, 0) != 0) return 125;
  }
  if (!has_seccomp) {
    struct sock_filter filter[] = {LOAD(nr), UNLESS(SYS_seccomp, 1), FAIL(ENOSYS), UNLESS(SYS_prctl, 3),
                                   LOAD(args[0]), UNLESS(PR_SET_SECCOMP, 1), FAIL(EINVAL), ANSWER(SECCOMP_RET_ALLOW)};
    if (install(filter, sizeof filter / sizeof *filter, 0) != 0) return 125;
  }
  execv(arguments[3], arguments + 3);
  return 127;
}
