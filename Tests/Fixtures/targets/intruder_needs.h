/* SPDX-License-Identifier: Apache-2.0
 *
 * intruder_needs.h - the second half of intruder.c: what a confined target must still be able to do.
 */
#ifndef INTRUDER_NEEDS_H
#define INTRUDER_NEEDS_H

static void *add(void *sum) {
  __atomic_add_fetch((int *)sum, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static volatile sig_atomic_t signalled;
static void on_signal(int number) { signalled = number; }

static void needs_of_programs(void) {
  pthread_t threads[8];
  int sum = 0, started = 0;
  for (int i = 0; i < 8; i++) started += pthread_create(&threads[i], NULL, add, &sum) == 0;
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  must("threads", sum == 8);
  signal(SIGUSR1, on_signal);
  must("signals to itself", raise(SIGUSR1) == 0 && signalled == SIGUSR1 && kill(getpid(), SIGUSR1) == 0 &&
                                pthread_kill(pthread_self(), SIGUSR1) == 0);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  must("timers", timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_delete(timer) == 0 &&
                     usleep(1000) == 0 && timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) >= 0);
  int queue = epoll_create1(EPOLL_CLOEXEC), wake = eventfd(1, EFD_CLOEXEC);
  struct epoll_event ready = {.events = EPOLLIN};
  must("epoll", epoll_ctl(queue, EPOLL_CTL_ADD, wake, &ready) == 0 && epoll_wait(queue, &ready, 1, 1000) == 1);
  void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must("memory, executable too", memory != MAP_FAILED && munmap(memory, 1 << 20) == 0);
  must("memory file", memfd_create("scratch", MFD_CLOEXEC) >= 0);
  must("libraries", dlopen("libm.so.6", RTLD_NOW) != NULL);
  must("randomness", opens("/dev/urandom", O_RDONLY) >= 0);
  must("/dev/null", opens("/dev/null", O_RDWR) >= 0 && opens("/dev/null", O_WRONLY | O_TRUNC) >= 0);
  struct tm local;
  time_t when = 1782900000;             /* 1 July 2026 */
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  must("time zones", localtime_r(&when, &local) != NULL && local.tm_gmtoff == 7200);
  pthread_attr_t attributes;
  must("its own stack", pthread_getattr_np(pthread_self(), &attributes) == 0);
  must("certificates", opens("/etc/ssl/certs/ca-certificates.crt", O_RDONLY) >= 0 ||
                           opens("/etc/pki/tls/certs/ca-bundle.crt", O_RDONLY) >= 0);
  must("name of the thread", prctl(PR_SET_NAME, "intruder") == 0);
  must("limits of its own", prlimit(0, RLIMIT_NOFILE, NULL, &(struct rlimit){0}) == 0);
}

static void needs_of_files(void) {
  must("typed file", opens(note, O_RDONLY) >= 0);
  int file = open(in(folder, ".new"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  must("new file", file >= 0 && write(file, "abc", 3) == 3 && fsync(file) == 0);
  must("change of an open file", fchmod(file, 0640) == 0 && ftruncate(file, 2) == 0 && futimens(file, NULL) == 0 &&
                                     flock(file, LOCK_EX) == 0);
  must("mapped file", mmap(NULL, 2, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED);
  close(file);
  must("rename", rename(in(folder, ".new"), in(folder, "kept")) == 0);
  must("rename without replacing", syscall(SYS_renameat2, AT_FDCWD, in(folder, "kept"), AT_FDCWD, in(folder, "kept2"), 1) == 0);
  must("new folder", mkdir(in(folder, "sub"), 0700) == 0);
  must("move between folders", rename(in(folder, "kept2"), in(folder, "sub/kept")) == 0);
  must("link", link(in(folder, "sub/kept"), in(folder, "sub/linked")) == 0);
  must("cut by path", truncate(in(folder, "sub/kept"), 1) == 0);
  int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  must("unnamed file", unnamed >= 0);
  close(unnamed);
  DIR *listing = opendir(folder);
  must("listing", listing != NULL && readdir(listing) != NULL && fsync(dirfd(listing)) == 0);
  if (listing != NULL) closedir(listing);
  must("removal", unlink(in(folder, "sub/linked")) == 0 && unlink(in(folder, "sub/kept")) == 0 && rmdir(in(folder, "sub")) == 0);
  int32_t scratch = -1;
  must("scratch file", out->scratch(out->context, 0, &scratch) == RELAY_OK && write(scratch, "x", 1) == 1);
}

static void needs_of_the_network(void) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *answer = NULL;
  must("names", getaddrinfo("localhost", "http", &hints, &answer) == 0);
  if (answer != NULL) freeaddrinfo(answer);
  struct ifaddrs *interfaces = NULL;
  must("routes", getifaddrs(&interfaces) == 0);
  if (interfaces != NULL) freeifaddrs(interfaces);
  int pair[2];
  must("pair of sockets", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in any = {.sin_family = AF_INET};
  must("datagrams", bind(datagrams, (struct sockaddr *)&any, sizeof any) == 0);
  if (port == 0) return;
  int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  must("connection", connect(client, (struct sockaddr *)&server, sizeof server) == 0);
  close(client);
}

#endif
