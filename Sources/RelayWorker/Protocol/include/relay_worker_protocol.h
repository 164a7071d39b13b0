/* SPDX-License-Identifier: Apache-2.0
 *
 * relay_worker_protocol.h - what relay-host and relay-worker say to each other, version 3. Both are shipped together,
 * so a version other than one's own is an error and nothing is optional.
 *
 * The line is a stream socket pair; the worker has its end as descriptor 3. Both sides send frames: a header of 16
 * bytes, then the payload. All numbers are little-endian.
 *
 *     u32 payload length, at most RELAY_FRAME_MAXIMUM    u16 type    u16 zero    u64 request id
 *
 * A payload is its fields in the order given below, without padding, and nothing after them:
 *
 *     u8 u32 i32 u64 i64     numbers
 *     text                   u32 length, then so many bytes; RELAY_TEXT_ABSENT as length: absent, no bytes
 *     settings               u32 count, then so often: text path, u8 kind, value by kind (RELAY_SETTING_…)
 *     pairs                  u32 count, then so often: text name, text value
 *     verdict                i32 code, i32 reason, i32 status, u64 retry_after_ms, u64 bytes_sent, u32 flags
 *
 * The host numbers its requests as it likes, not with 0; an answer carries the request's number, and so do LOG and
 * PROGRESS during it (0 in between). What the worker asks (STATE_…, SCRATCH, VERIFY) has numbers of its own, and the
 * answer repeats them. Descriptors travel by SCM_RIGHTS with the first byte of their frame.
 *
 * The host may send LOAD, OPEN and DELIVER without waiting for answers; the worker works through them in order. When
 * LOAD failed the worker reads on and answers nothing; when OPEN failed, each DELIVER or CHECK is answered with OPEN's
 * verdict at once.
 */
#ifndef RELAY_WORKER_PROTOCOL_H
#define RELAY_WORKER_PROTOCOL_H

#include <stdint.h>
#include <string.h>

#define RELAY_PROTOCOL_VERSION 4u
#define RELAY_WORKER_SOCKET 3           /* the worker's end, as a descriptor */

#define RELAY_FRAME_HEADER 16u          /* bytes */
#define RELAY_FRAME_MAXIMUM 1048576u    /* bytes of payload */
#define RELAY_TEXT_ABSENT 0xFFFFFFFFu

/* Host to worker. */
#define RELAY_FRAME_LOAD 1u             /* u32 version, text path of the .so, text pipeline id, u64 bytes of address space,
                                         * u64 bytes of data, u64 open files, u64 bytes a file, u64 processes of the user; a
                                         * limit of 0 is none; u32 RELAY_CONFINE_… that must be had, u32 user, u32 group, u32
                                         * count and so many u32 further groups (user RELAY_USER_STAYS: nobody else), u32 count
                                         * and so often text path, u32 RELAY_ACCESS_… (relay_confinement.h), text of the filters
                                         * that `relay-worker filter LEVEL` printed, without the names behind
                                         * them, or empty */
#define RELAY_FRAME_DESCRIBE 2u         /* - */
#define RELAY_FRAME_OPEN 3u             /* settings, pairs of secrets (path, value), text settings as JSON */
#define RELAY_FRAME_DELIVER 4u          /* u64 length, 32 bytes of SHA-256, text file name, media type, content
                                         * encoding, pipeline id, pipeline name, artifact id, delivery id, message id,
                                         * u32 part index, part count, attempt, flags, i64 created, i64 first attempt,
                                         * pairs of attributes, settings rendered for this delivery, u8 verified, u64
                                         * checksum (if verified); descriptors: part, cancel */
#define RELAY_FRAME_CHECK 5u            /* -; descriptor: cancel */
#define RELAY_FRAME_STATE_ANSWER 6u     /* i32 code (RELAY_OK …), text value (for NEXT the key) */
#define RELAY_FRAME_SCRATCH_ANSWER 7u   /* i32 code; with RELAY_OK a descriptor */
#define RELAY_FRAME_VERIFY_ANSWER 8u    /* i32 code, u64 checksum over the bytes that the host hashed and found right */
#define RELAY_FRAME_LEAVE 9u            /* -; close the target if it is idle and end */
#define RELAY_FRAME_ACCESS 10u          /* before LOAD, any number of times: u32 count, at most RELAY_ACCESS_MAXIMUM, and so many
                                         * u32 RELAY_ACCESS_…; descriptors: as many paths, opened with O_PATH */

/* Worker to host. */
#define RELAY_FRAME_HELLO 129u          /* u32 version; sent at once, request id 0 */
#define RELAY_FRAME_LOADED 130u         /* u32 ABI of the target, u32 bits RELAY_TARGET_HAS_… */
#define RELAY_FRAME_LOAD_FAILED 131u    /* i32 RELAY_LOAD_…, text */
#define RELAY_FRAME_MANIFEST 132u       /* text; during DESCRIBE */
#define RELAY_FRAME_DESCRIBED 133u      /* i32 return value */
#define RELAY_FRAME_OPENED 134u         /* i32 return value, verdict, text message; open if value and code are 0 */
#define RELAY_FRAME_RESULT 135u         /* text delivery id (empty for CHECK), i32 return value, verdict, text message,
                                         * text receipt, u32 RELAY_SOURCE_…; a return value other than 0 comes with code
                                         * NONE */
#define RELAY_FRAME_LOG 136u            /* i32 level, text */
#define RELAY_FRAME_PROGRESS 137u       /* u64 done, u64 total */
#define RELAY_FRAME_STATE_GET 138u      /* this and the next three: i32 scope, text key, text value (empty but for
                                         * PUT) */
#define RELAY_FRAME_STATE_PUT 139u
#define RELAY_FRAME_STATE_DELETE 140u
#define RELAY_FRAME_STATE_NEXT 141u
#define RELAY_FRAME_SCRATCH 142u        /* u64 maximum bytes, 0 = as the host likes */
#define RELAY_FRAME_VERIFY 143u         /* u64 checksum of the whole as the worker read it */
#define RELAY_FRAME_CONFINED 144u       /* u32 RELAY_CONFINE_… in force, u32 how many descriptors: 0, or 1 where calls that are
                                         * denied or watched can be heard of (seccomp_unotify(2)), or 2 with this process's memory,
                                         * to be read, behind it. An answer to LOAD that comes before the target is loaded,
                                         * so it is no target's word; LOADED or LOAD_FAILED follows */

/* Kinds of a setting, and its value. A member of a list or object has an entry of its own, after the one of its
 * parent. */
#define RELAY_SETTING_NULL 0u           /* - */
#define RELAY_SETTING_TEXT 1u           /* text */
#define RELAY_SETTING_INTEGER 2u        /* i64 */
#define RELAY_SETTING_REAL 3u           /* u64, the bits of a double */
#define RELAY_SETTING_FLAG 4u           /* u8 */
#define RELAY_SETTING_LIST 5u           /* u64 count */
#define RELAY_SETTING_OBJECT 6u         /* u64 count */
#define RELAY_SETTING_SECRET 7u         /* -; holds the place of a member whose value is among the secrets */
#define RELAY_SETTING_TEMPLATE 8u       /* -; holds the place of one that comes rendered with each DELIVER */

#define RELAY_LOAD_CANNOT_LOAD 1        /* dlopen failed; its own words */
#define RELAY_LOAD_MISSING_SYMBOL 2
#define RELAY_LOAD_ABI_MISMATCH 3
#define RELAY_LOAD_BAD_PATH 4           /* not absolute */
#define RELAY_LOAD_UNCONFINED 5         /* a confinement that must be had couldn't be; nothing was loaded */
#define RELAY_LOAD_NOT_NOW 6            /* the machine has run out of something or a disk fails, which may pass by itself */

#define RELAY_ACCESS_MAXIMUM 16u        /* paths in one ACCESS */
#define RELAY_USER_STAYS 0xFFFFFFFFu

#define RELAY_TARGET_HAS_CHECK 1u
#define RELAY_TARGET_HAS_CLOSE 2u

/* What became of the part's bytes through relay_host.read. */
#define RELAY_SOURCE_UNTOUCHED 0u       /* never asked for (or read from the descriptor) */
#define RELAY_SOURCE_PARTLY 1u
#define RELAY_SOURCE_WHOLE 2u           /* handed out to the end and found right */
#define RELAY_SOURCE_FAILED 3u          /* doesn't match its length, checksum or hash, or can't be read */

/* How the worker ends when it isn't killed. */
#define RELAY_EXIT_DONE 0               /* LEAVE, or the host closed the line */
#define RELAY_EXIT_SETUP 70             /* its surroundings aren't as they must be */
#define RELAY_EXIT_PROTOCOL 71          /* a frame that it can't understand, or a line that fails without being closed */

/* --- Numbers on the line ------------------------------------------------------------------------------------------ */

static inline void relay_put16(uint8_t *to, uint16_t value) {
  to[0] = (uint8_t)value;
  to[1] = (uint8_t)(value >> 8);
}

static inline void relay_put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static inline void relay_put64(uint8_t *to, uint64_t value) {
  for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static inline uint16_t relay_get16(const uint8_t *from) { return (uint16_t)(from[0] | (uint16_t)(from[1] << 8)); }

static inline uint32_t relay_get32(const uint8_t *from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++) value |= (uint32_t)from[i] << (8 * i);
  return value;
}

static inline uint64_t relay_get64(const uint8_t *from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

/* --- The checksum ----------------------------------------------------------------------------------------------------
 * Ties the bytes that the worker hands out to those that the host hashed, when both read the same file at different
 * times. It is for accidents (a failing disk, a file written to), not against an adversary; several gigabytes a second.
 * The value depends on the bytes and their order alone, not on how they were cut into updates.
 */

typedef struct relay_checksum {
  uint64_t state[4];                    /* word n goes into state n % 4: four chains that the processor follows at once */
  uint64_t length;                      /* bytes so far */
  uint64_t tail;                        /* the length % 8 bytes that don't fill a word yet, lowest first */
} relay_checksum;

static inline relay_checksum relay_checksum_start(void) {
  relay_checksum sum = {{UINT64_C(0x52656C6179486F73), UINT64_C(0x74436865636B7375), UINT64_C(0x6D6F664D616E7957),
                         UINT64_C(0x6F7264734174416C)}, 0, 0};
  return sum;
}

/* One word. A bijection of the state for each word and of the word for each state: no single changed word goes unseen.
 * The word is mixed first, so that its top bits don't meet the low bits of the next one unmixed. */
static inline uint64_t relay_checksum_step(uint64_t state, uint64_t word) {
  word *= UINT64_C(0x9E3779B97F4A7C15);
  word = (word << 31) | (word >> 33);
  word *= UINT64_C(0xD6E8FEB86659FD93);
  state ^= word;
  return ((state << 27) | (state >> 37)) * UINT64_C(0xA0761D6478BD642F) + UINT64_C(0x52DCE729);
}

static inline uint64_t relay_checksum_word(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline void relay_checksum_update(relay_checksum *sum, const void *bytes, uint64_t count) {
  const uint8_t *at = (const uint8_t *)bytes;
  uint64_t held = sum->length % 8, lane = sum->length / 8 % 4;
  sum->length += count;
  if (held != 0) {
    while (held < 8 && count > 0) {
      sum->tail |= (uint64_t)*at++ << (8 * held++);
      count--;
    }
    if (held < 8) return;
    sum->state[lane] = relay_checksum_step(sum->state[lane], sum->tail);
    sum->tail = 0;
    lane = (lane + 1) % 4;
  }
  for (; count >= 8 && lane != 0; count -= 8, at += 8, lane = (lane + 1) % 4) {
    sum->state[lane] = relay_checksum_step(sum->state[lane], relay_checksum_word(at));
  }
  uint64_t first = sum->state[0], second = sum->state[1], third = sum->state[2], fourth = sum->state[3];
  for (; count >= 32; count -= 32, at += 32) {
    first = relay_checksum_step(first, relay_checksum_word(at));
    second = relay_checksum_step(second, relay_checksum_word(at + 8));
    third = relay_checksum_step(third, relay_checksum_word(at + 16));
    fourth = relay_checksum_step(fourth, relay_checksum_word(at + 24));
  }
  sum->state[0] = first, sum->state[1] = second, sum->state[2] = third, sum->state[3] = fourth;
  for (; count >= 8; count -= 8, at += 8, lane = (lane + 1) % 4) {
    sum->state[lane] = relay_checksum_step(sum->state[lane], relay_checksum_word(at));
  }
  for (held = 0; held < count; held++) sum->tail |= (uint64_t)at[held] << (8 * held);
}

static inline uint64_t relay_checksum_value(const relay_checksum *sum) {
  uint64_t value = sum->state[0];
  for (int lane = 1; lane < 4; lane++) value = relay_checksum_step(value, sum->state[lane]);
  value = relay_checksum_step(relay_checksum_step(value, sum->tail), sum->length);
  value ^= value >> 32;
  value *= UINT64_C(0xD6E8FEB86659FD93);
  return value ^ (value >> 32);
}

#endif
