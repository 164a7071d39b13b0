/* SPDX-License-Identifier: Apache-2.0
 *
 * frames.h - the line to the host. A line that broke, or a frame that can't be understood, ends the process: without
 * the host there is nothing left to do here, and what wasn't answered will be tried again.
 */
#ifndef RELAY_FRAMES_H
#define RELAY_FRAMES_H

#include "worker.h"

/* --- Coming --- */

struct frame {
  uint16_t type;
  uint64_t request;
  int descriptors[RELAY_ACCESS_MAXIMUM];        /* -1 where there is none; the frame's until taken */
  struct frame *next;
  uint32_t length;
  uint8_t payload[];
};

/* The next frame, in order; main thread only. Ends the process at the end of the line. */
struct frame *frame_receive(void);
/* The answer of this type to this request; what comes before it is kept for frame_receive. */
struct frame *frame_await(uint16_t type, uint64_t request);
int frame_take_descriptor(struct frame *frame, int index);
void frame_free(struct frame *frame);

/* Fields of a payload, front to back; a missing one ends the process. */
struct fields {
  const uint8_t *at, *end;
};

struct fields fields_of(const struct frame *frame);
const uint8_t *field_bytes(struct fields *fields, uint64_t count);
uint8_t field_u8(struct fields *fields);
uint32_t field_u32(struct fields *fields);
uint64_t field_u64(struct fields *fields);
relay_text field_text(struct fields *fields);            /* {NULL, 0} if it is absent */
relay_text field_present_text(struct fields *fields);   /* for what is compared or copied: never NULL */
/* A count of things that take at least `least` bytes each: checked, so that it is fit for an allocation. */
uint32_t field_count(struct fields *fields, uint32_t least);
void fields_end(const struct fields *fields);

/* --- Going --- */

/* The short fields of a frame. */
struct outgoing {
  uint32_t count;
  uint8_t bytes[6144];
};

void put_u32(struct outgoing *out, uint32_t value);
void put_u64(struct outgoing *out, uint64_t value);
void put_text(struct outgoing *out, const void *bytes, uint32_t length);

/* Sends one frame whole, from any thread; `tail` follows the fields and may be NULL with length 0. */
void frame_send(uint16_t type, uint64_t request, const struct outgoing *out, const void *tail, uint32_t tail_length);

/* As above, without a tail and with at most two descriptors, which stay the caller's. */
void frame_send_with(uint16_t type, uint64_t request, const struct outgoing *out, const int *descriptors, size_t count);

void protocol_broken(const char *why) __attribute__((noreturn));

#endif
