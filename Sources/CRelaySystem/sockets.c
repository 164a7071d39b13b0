/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "relay_system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { most_descriptors = 64 };

ssize_t relay_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count) {
  if (count > most_descriptors) {
    errno = EINVAL;
    return -1;
  }
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(head), descriptors, sizeof(int) * count);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t relay_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = length};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  size_t room = *count;
  *count = 0;
  ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t found = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < found; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof fd);
      if (*count < room)
        descriptors[(*count)++] = fd;
      else
        close(fd);
    }
  }
  return got;
}

int relay_socket_pair(int pair[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair); }

int relay_pipe(int pair[2]) { return pipe2(pair, O_CLOEXEC); }

static int unix_address(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address->sun_path, path);
  return 0;
}

int relay_listen_unix(const char *path, unsigned mode, int backlog) {
  struct sockaddr_un address;
  if (unix_address(path, &address) != 0) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  /* The mode of the socket's inode decides from its first moment who may connect. */
  if (fchmod(fd, (mode_t)mode) == 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
      chmod(path, (mode_t)mode) == 0 && listen(fd, backlog) == 0)
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int relay_connect_unix(const char *path) {
  struct sockaddr_un address;
  if (unix_address(path, &address) != 0) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int relay_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }

int relay_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  *pid = peer.pid;
  *uid = peer.uid;
  *gid = peer.gid;
  return 0;
}

int relay_notify(const char *address, const char *text) {
  struct sockaddr_un to;
  if (unix_address(address, &to) != 0) return -1;
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address));
  if (to.sun_path[0] == '@') to.sun_path[0] = 0;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  ssize_t sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to, length);
  close(fd);
  return sent < 0 ? -1 : 0;
}
