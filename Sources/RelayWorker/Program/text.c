/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

static bool is_continuation(char byte) { return ((uint8_t)byte & 0xC0) == 0x80; }

/* Bytes of the well-formed character at `at`, 0 if there is none. `left` is at least 1. (Unicode 15, table 3-7.) */
static uint32_t character_length(const char *at, uint64_t left) {
  uint8_t first = (uint8_t)at[0];
  if (first < 0x80) return 1;
  uint32_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < length) return 0;
  uint8_t second = (uint8_t)at[1];
  uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  for (uint32_t index = 2; index < length; index++) {
    if (!is_continuation(at[index])) return 0;
  }
  return length;
}

/* C0, DEL and C1: what could steer a terminal. */
static bool is_control(const char *at, uint32_t length) {
  uint8_t first = (uint8_t)at[0];
  if (length == 1) return first < 0x20 || first == 0x7F;
  return length == 2 && first == 0xC2 && (uint8_t)at[1] < 0xA0;
}

uint32_t text_clean(char *to, uint32_t limit, const char *bytes, uint64_t length) {
  uint32_t count = 0;
  if (bytes == NULL) return 0;
  while (length > 0) {
    uint32_t character = character_length(bytes, length);
    uint32_t step = character == 0 ? 1 : character;
    bool plain = character > 0 && !is_control(bytes, character);
    uint32_t needed = plain ? character : 1;
    if (needed > limit - count) break;
    if (plain) memcpy(to + count, bytes, character);
    else to[count] = *bytes == '\n' || *bytes == '\t' || *bytes == '\r' ? ' ' : '?';
    count += needed;
    bytes += step;
    length -= step;
  }
  return count;
}

bool text_is_key(const char *key, uint64_t length) {
  while (length > 0) {
    uint32_t character = character_length(key, length);
    if (character == 0 || is_control(key, character)) return false;
    key += character;
    length -= character;
  }
  return true;
}
