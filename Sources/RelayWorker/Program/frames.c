/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "frames.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than a host sends ahead: LOAD, OPEN, DELIVER, LEAVE. */
#define PENDING_MAXIMUM 64
#define DESCRIPTORS_MAXIMUM RELAY_ACCESS_MAXIMUM

static struct frame *pending_first, *pending_last;
static int pending_count;

static int descriptors[DESCRIPTORS_MAXIMUM];    /* received, not yet claimed by their frame */
static int descriptor_count;

static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;

void protocol_broken(const char *why) {
  dprintf(STDERR_FILENO, "relay-worker: %s\n", why);
  _exit(RELAY_EXIT_PROTOCOL);
}

/* --- Coming ------------------------------------------------------------------------------------------------------- */

static void keep_descriptors(struct msghdr *message) {
  if (message->msg_flags & MSG_CTRUNC) protocol_broken("descriptors were lost on the line");
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < count; index++) {
      if (descriptor_count == DESCRIPTORS_MAXIMUM) protocol_broken("too many descriptors on the line");
      memcpy(&descriptors[descriptor_count++], CMSG_DATA(header) + index * sizeof(int), sizeof(int));
    }
  }
}

static void wait_for(short events) {
  struct pollfd line = {RELAY_WORKER_SOCKET, events, 0};
  poll(&line, 1, -1);
}

static void receive_bytes(uint8_t *to, size_t count) {
  while (count > 0) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAXIMUM * sizeof(int))];
    struct iovec part = {to, count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(RELAY_WORKER_SOCKET, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {   /* the target made the line non-blocking */
      wait_for(POLLIN);
      continue;
    }
    if (got == 0 || (got < 0 && errno == ECONNRESET)) _exit(RELAY_EXIT_DONE);
    if (got < 0) protocol_broken("the line to the host can't be read");
    keep_descriptors(&message);
    to += got;
    count -= (size_t)got;
  }
}

static int descriptors_of(const struct frame *frame) {
  uint32_t first = frame->length >= 4 ? relay_get32(frame->payload) : UINT32_MAX;
  switch (frame->type) {
    case RELAY_FRAME_ACCESS: return first <= RELAY_ACCESS_MAXIMUM ? (int)first : 0;
    case RELAY_FRAME_DELIVER: return 2;
    case RELAY_FRAME_CHECK: return 1;
    case RELAY_FRAME_SCRATCH_ANSWER: return first == RELAY_OK ? 1 : 0;
    default: return 0;
  }
}

static struct frame *receive(void) {
  uint8_t header[RELAY_FRAME_HEADER];
  receive_bytes(header, sizeof header);
  uint32_t length = relay_get32(header);
  if (length > RELAY_FRAME_MAXIMUM) protocol_broken("a frame is too long");
  struct frame *frame = malloc(sizeof *frame + length);
  if (frame == NULL) protocol_broken("no memory for a frame");
  frame->type = relay_get16(header + 4);
  frame->request = relay_get64(header + 8);
  frame->next = NULL;
  frame->length = length;
  for (size_t index = 0; index < RELAY_ACCESS_MAXIMUM; index++) frame->descriptors[index] = -1;
  receive_bytes(frame->payload, length);
  int count = descriptors_of(frame);
  if (count > descriptor_count) protocol_broken("a frame came without its descriptors");
  for (int index = 0; index < count; index++) frame->descriptors[index] = descriptors[index];
  descriptor_count -= count;
  memmove(descriptors, descriptors + count, (size_t)descriptor_count * sizeof(int));
  return frame;
}

struct frame *frame_receive(void) {
  struct frame *frame = pending_first;
  if (frame == NULL) return receive();
  pending_first = frame->next;
  if (pending_first == NULL) pending_last = NULL;
  pending_count--;
  return frame;
}

struct frame *frame_await(uint16_t type, uint64_t request) {
  for (;;) {
    struct frame *frame = receive();
    if (frame->type == type && frame->request == request) return frame;
    if (++pending_count > PENDING_MAXIMUM) protocol_broken("too many frames sent ahead");
    if (pending_last != NULL) pending_last->next = frame;
    else pending_first = frame;
    pending_last = frame;
  }
}

int frame_take_descriptor(struct frame *frame, int index) {
  int descriptor = frame->descriptors[index];
  frame->descriptors[index] = -1;
  return descriptor;
}

void frame_free(struct frame *frame) {
  for (size_t index = 0; index < RELAY_ACCESS_MAXIMUM; index++) {
    if (frame->descriptors[index] >= 0) close(frame->descriptors[index]);
  }
  free(frame);
}

/* --- Going -------------------------------------------------------------------------------------------------------- */

void put_u32(struct outgoing *out, uint32_t value) {
  if (out->count + 4 > sizeof out->bytes) protocol_broken("a frame's fields don't fit");
  relay_put32(out->bytes + out->count, value);
  out->count += 4;
}

void put_u64(struct outgoing *out, uint64_t value) {
  put_u32(out, (uint32_t)value);
  put_u32(out, (uint32_t)(value >> 32));
}

void put_text(struct outgoing *out, const void *bytes, uint32_t length) {
  put_u32(out, length);
  if (length > sizeof out->bytes - out->count) protocol_broken("a frame's fields don't fit");
  if (length > 0) memcpy(out->bytes + out->count, bytes, length);
  out->count += length;
}

#define MOST_WITH_A_FRAME 2              /* that go with one frame */

static void carry(struct msghdr *message, char *control, const int *descriptors, size_t count) {
  message->msg_control = control;
  message->msg_controllen = CMSG_SPACE(count * sizeof *descriptors);
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof *descriptors);
  memcpy(CMSG_DATA(header), descriptors, count * sizeof *descriptors);
}

static void send_frame(uint16_t type, uint64_t request, const struct outgoing *out, const void *tail, uint32_t tail_length,
                       const int *descriptors, size_t count) {
  if (getpid() != worker.pid) return;   /* a child of the target's has nothing to say */
  uint8_t header[RELAY_FRAME_HEADER];
  relay_put32(header, (out != NULL ? out->count : 0) + tail_length);
  relay_put16(header + 4, type);
  relay_put16(header + 6, 0);
  relay_put64(header + 8, request);
  struct iovec parts[3] = {
      {header, sizeof header},
      {out != NULL ? (void *)out->bytes : NULL, out != NULL ? out->count : 0},
      {(void *)tail, tail_length},
  };
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_WITH_A_FRAME * sizeof(int))] = {0};
  if (count > 0) carry(&message, control, descriptors, count);
  pthread_mutex_lock(&sending);
  while (message.msg_iovlen > 0) {
    ssize_t sent = sendmsg(RELAY_WORKER_SOCKET, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      wait_for(POLLOUT);
      continue;
    }
    /* The host closed the line: the same end as where reading finds that out. */
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) _exit(RELAY_EXIT_DONE);
    if (sent < 0) protocol_broken("the line to the host can't be written");
    message.msg_control = NULL;         /* went with the first byte */
    message.msg_controllen = 0;
    size_t rest = (size_t)sent;
    while (message.msg_iovlen > 0 && rest >= message.msg_iov->iov_len) {
      rest -= message.msg_iov->iov_len;
      message.msg_iov++;
      message.msg_iovlen--;
    }
    if (message.msg_iovlen > 0) {
      message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + rest;
      message.msg_iov->iov_len -= rest;
    }
  }
  pthread_mutex_unlock(&sending);
}

void frame_send(uint16_t type, uint64_t request, const struct outgoing *out, const void *tail, uint32_t tail_length) {
  send_frame(type, request, out, tail, tail_length, NULL, 0);
}

void frame_send_with(uint16_t type, uint64_t request, const struct outgoing *out, const int *descriptors, size_t count) {
  send_frame(type, request, out, NULL, 0, descriptors, count);
}
