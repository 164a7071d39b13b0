/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

struct fields fields_of(const struct frame *frame) {
  return (struct fields){frame->payload, frame->payload + frame->length};
}

const uint8_t *field_bytes(struct fields *fields, uint64_t count) {
  if (count > (uint64_t)(fields->end - fields->at)) protocol_broken("a frame ends inside of a field");
  const uint8_t *bytes = fields->at;
  fields->at += count;
  return bytes;
}

uint8_t field_u8(struct fields *fields) { return *field_bytes(fields, 1); }

uint32_t field_u32(struct fields *fields) { return relay_get32(field_bytes(fields, 4)); }

uint64_t field_u64(struct fields *fields) { return relay_get64(field_bytes(fields, 8)); }

relay_text field_text(struct fields *fields) {
  uint32_t length = field_u32(fields);
  if (length == RELAY_TEXT_ABSENT) return (relay_text){NULL, 0};
  return (relay_text){(const char *)field_bytes(fields, length), length};
}

relay_text field_present_text(struct fields *fields) {
  relay_text text = field_text(fields);
  if (text.bytes == NULL) protocol_broken("a frame lacks a text");
  return text;
}

uint32_t field_count(struct fields *fields, uint32_t least) {
  uint32_t count = field_u32(fields);
  if (count > (uint64_t)(fields->end - fields->at) / least) protocol_broken("a frame counts more than it holds");
  return count;
}

void fields_end(const struct fields *fields) {
  if (fields->at != fields->end) protocol_broken("a frame is longer than its fields");
}
