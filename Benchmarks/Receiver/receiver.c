/* SPDX-License-Identifier: Apache-2.0
 *
 * bench-receiver LOG: an HTTP/1.1 server that does the least it can, so that it is not what is measured. It reads every
 * body to its end, notes the moment at which it had the last byte, answers 201 and keeps nothing; what is sent to /hang/…
 * is never answered. Its port is the first line of its output. LOG gets a line for each body, "nanoseconds bytes path", by
 * the monotonic clock, which is one for all processes of a machine.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD_ROOM 16384u
#define BODY_ROOM (1u << 20)

struct connection {
  int fd;
  bool in_body, hangs;
  uint64_t left, length;                /* of the body */
  char path[512];
  size_t filled;                        /* bytes of a head that isn't whole yet */
  char head[HEAD_ROOM];
};

static char body[BODY_ROOM];
static FILE *arrivals;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void answer(int fd, const char *text) {
  size_t length = strlen(text);
  if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length && errno != EPIPE && errno != ECONNRESET) fail("send");
}

static void body_is_whole(struct connection *connection) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  connection->in_body = false;
  if (connection->hangs) return;
  fprintf(arrivals, "%lld %llu %s\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec,
          (unsigned long long)connection->length, connection->path);
  answer(connection->fd, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
}

/* The value of a header field in a head that ends in a zero, or NULL. */
static const char *field(const char *head, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') return line + 3 + length;
  }
  return NULL;
}

/* Takes one head off the front; false when it isn't whole yet. */
static bool take_head(struct connection *connection) {
  char *end = memmem(connection->head, connection->filled, "\r\n\r\n", 4);
  if (end == NULL) return false;
  end[2] = 0;
  size_t used = (size_t)(end + 4 - connection->head);
  const char *length = field(connection->head, "content-length");
  const char *expect = field(connection->head, "expect");
  connection->length = connection->left = length != NULL ? strtoull(length, NULL, 10) : 0;
  if (sscanf(connection->head, "%*15s %511s", connection->path) != 1) connection->path[0] = 0;
  connection->hangs = strncmp(connection->path, "/hang/", 6) == 0;
  connection->in_body = true;
  if (expect != NULL && connection->left > 0) answer(connection->fd, "HTTP/1.1 100 Continue\r\n\r\n");
  uint64_t here = connection->filled - used;
  if (here > connection->left) here = connection->left;
  connection->left -= here;
  connection->filled -= used + (size_t)here;
  memmove(connection->head, connection->head + used + here, connection->filled);
  return true;
}

/* One read; false when the connection is over. */
static bool serve(struct connection *connection) {
  ssize_t got;
  if (connection->in_body && connection->left > 0) {
    got = recv(connection->fd, body, connection->left < BODY_ROOM ? connection->left : BODY_ROOM, 0);
    if (got > 0) connection->left -= (uint64_t)got;
  } else {
    if (connection->filled == HEAD_ROOM - 1) return false;
    got = recv(connection->fd, connection->head + connection->filled, HEAD_ROOM - 1 - connection->filled, 0);
    if (got > 0) connection->filled += (size_t)got;
  }
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  do {
    if (connection->in_body && connection->left == 0) body_is_whole(connection);
  } while (!connection->in_body && !connection->hangs && take_head(connection));
  return true;
}

static int listen_anywhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 1024) < 0) fail("listen");
  if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) fail("getsockname");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static void take_connections(int poll, int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) fail("calloc");
    connection->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
  }
}

int main(int count, char **arguments) {
  if (count != 2) return fprintf(stderr, "usage: bench-receiver LOG\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  arrivals = fopen(arguments[1], "we");
  if (arrivals == NULL) fail(arguments[1]);
  int listener = listen_anywhere(), poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event first = {.events = EPOLLIN, .data.ptr = NULL}, events[128];
  if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &first) < 0) fail("epoll");
  for (;;) {
    int ready = epoll_wait(poll, events, 128, 0);
    if (ready == 0) {                   /* nothing to do: time to write down what came */
      fflush(arrivals);
      ready = epoll_wait(poll, events, 128, -1);
    }
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) {
      struct connection *connection = events[index].data.ptr;
      if (connection == NULL) {
        take_connections(poll, listener);
      } else if (!serve(connection)) {
        close(connection->fd);
        free(connection);
      }
    }
  }
}
