/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confinement.h"

static void give_up(const char *why) {
  dprintf(STDERR_FILENO, "relay-worker: %s\n", why);
  _exit(RELAY_EXIT_SETUP);
}

/* What the host's threads had set or blocked must not reach the target. */
static void reset_signals(void) {
  for (int number = 1; number < 32; number++) {
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);             /* a file that grows too long is an error of its write */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void reset_descriptors(void) {
  int kind;
  socklen_t size = sizeof kind;
  if (getsockopt(RELAY_WORKER_SOCKET, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_STREAM) {
    give_up("descriptor 3 isn't the host's line; relay-host starts this program, it isn't for people");
  }
  fcntl(RELAY_WORKER_SOCKET, F_SETFD, FD_CLOEXEC);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0) give_up("/dev/null can't be opened");
  close_range(RELAY_WORKER_SOCKET + 1, ~0u, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
}

void setup_limit(int resource, uint64_t limit) {
  struct rlimit now;
#ifdef HAS_SANITIZER
  if (resource == RLIMIT_AS || resource == RLIMIT_DATA) return;
#endif
  if (limit == 0 || getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
  rlim_t most = limit < now.rlim_max ? (rlim_t)limit : now.rlim_max;
  struct rlimit wanted = {most, most};
  setrlimit((__rlimit_resource_t)resource, &wanted);
}

void setup_end_with_host(void) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up("can't tie its life to the host's");
  if (getppid() != worker.host) _exit(RELAY_EXIT_DONE);         /* it died before the line above */
}

void setup_process(const char *host_pid) {
  char *end;
  long host = strtol(host_pid, &end, 10);
  if (*end != 0 || host <= 0) give_up("its argument must be the process id of relay-host");
  worker.host = (pid_t)host;
  setup_end_with_host();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("can't give up new privileges");
  setpgid(0, 0);
  umask(077);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  reset_signals();
  reset_descriptors();
  /* While it may still open it: for the host, which reads there the names of files that the target asks for. */
  worker.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (worker.memory < 0) worker.memory = 0;
  prctl(PR_SET_DUMPABLE, 0);
  worker.pid = getpid();
  worker.caller = pthread_self();
  atomic_store(&worker.cancel, -1);
}
