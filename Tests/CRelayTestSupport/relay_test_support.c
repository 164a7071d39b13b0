/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "relay_test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int relay_test_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int relay_test_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int relay_test_memory_file(void) { return memfd_create("part", MFD_CLOEXEC); }

int relay_test_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {0};
  if (descriptor_count > 8) {
    errno = EINVAL;
    return -1;
  }
  for (size_t done = 0; done < count;) {
    struct iovec part = {(char *)bytes + done, count - done};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (done == 0 && descriptor_count > 0) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
      struct cmsghdr *header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
      memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
    }
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return -1;
    done += (size_t)sent;
  }
  return 0;
}
