/* SPDX-License-Identifier: Apache-2.0
 *
 * The part's bytes. They are counted and summed as they go out, and the last chunk waits until the host, which hashes
 * the same file, has found the whole right and its sum the same as ours.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "frames.h"

/* Bounds one read, so that the host sees the file's offset move; also the most that waits for verification. */
#define CHUNK 1048576u

static struct {
  int fd;                               /* our own duplicate, which shares the offset with the target's: it can't be
                                         * closed */
  uint64_t length, position;
  relay_checksum sum;                   /* of the bytes before position */
  bool known;                           /* expected is the sum of bytes that the host found right */
  uint64_t expected;
  bool touched, whole, refused;         /* refused: -1 was returned, and not made good since */
  const char *fault;                    /* why the source can't be sent, or NULL */
} source = {.fd = -1};

void source_begin(int fd, uint64_t length, bool verified, uint64_t checksum) {
  source.fd = fcntl(fd, F_DUPFD_CLOEXEC, RELAY_WORKER_SOCKET + 1);
  source.length = length;
  source.known = verified;
  source.expected = checksum;
  source.position = 0;
  source.sum = relay_checksum_start();
  source.touched = source.whole = source.refused = false;
  source.fault = NULL;
}

void source_end(void) {
  if (source.fd >= 0) close(source.fd);
  source.fd = -1;
}

uint32_t source_use(void) {
  if (source.whole) return RELAY_SOURCE_WHOLE;
  if (source.fault != NULL) return RELAY_SOURCE_FAILED;
  return source.touched ? RELAY_SOURCE_PARTLY : RELAY_SOURCE_UNTOUCHED;
}

const char *source_objection(void) {
  if (!source.refused || source.whole) return NULL;
  return source.fault != NULL ? source.fault
                              : "the target reported a delivery after it was told to stop reading before the end";
}

static int64_t refuse(const char *fault) {
  source.refused = true;
  if (fault != NULL) {
    source.fault = fault;
    complain("%s", fault);
  }
  return -1;
}

/* Reads up to count bytes at the position; all of them if `fully`. -1 with errno, fewer at the end of the file. */
static int64_t read_file(uint8_t *to, uint64_t count, bool fully) {
  uint64_t done = 0;
  if (lseek(source.fd, (off_t)source.position, SEEK_SET) < 0) return -1;
  do {
    ssize_t got = read(source.fd, to + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (uint64_t)got;
  } while (fully && done < count);
  return (int64_t)done;
}

static bool file_goes_on(void) {
  uint8_t byte;
  return pread(source.fd, &byte, 1, (off_t)source.length) != 0;
}

static const char *verify(uint64_t sum) {
  if (!source.known) {
    if (!ask_verify(sum, &source.expected)) return "the part isn't what was queued: its SHA-256 differs";
    source.known = true;
  }
  return sum == source.expected ? NULL : "the part changed while it was being sent";
}

int64_t host_read(void *context, void *buffer, uint64_t capacity) {
  if (!allowed("read", DURING_DELIVER)) return -1;
  if (buffer == NULL || capacity == 0) {
    complain("the target called read without room for bytes");
    return -1;
  }
  if (source.whole) return 0;
  if (source.fault != NULL) return -1;
  if (host_should_stop(context)) return refuse(NULL);
  source.touched = true;
  uint64_t left = source.length - source.position;
  uint64_t count = left;
  if (count > capacity) count = capacity;
  if (count > CHUNK) count = CHUNK;
  bool last = count == left;
  int64_t got = count == 0 ? 0 : read_file(buffer, count, last);
  if (got < 0) return refuse("the part's file can't be read");
  if (got == 0 && count > 0) return refuse("the part's file is shorter than its length");
  if (last && (uint64_t)got < count) return refuse("the part's file is shorter than its length");
  relay_checksum sum = source.sum;
  relay_checksum_update(&sum, buffer, (uint64_t)got);
  if (last) {
    const char *fault =
        file_goes_on() ? "the part's file is longer than its length" : verify(relay_checksum_value(&sum));
    if (fault != NULL) {
      memset(buffer, 0, (size_t)got);   /* not handed out */
      return refuse(fault);
    }
    source.whole = true;
  }
  source.sum = sum;
  source.position += (uint64_t)got;
  return got;
}

int32_t host_rewind(void *context) {
  (void)context;
  if (!allowed("rewind", DURING_DELIVER)) return RELAY_DENIED;
  source.position = 0;
  source.sum = relay_checksum_start();
  source.whole = false;
  source.fault = NULL;
  return lseek(source.fd, 0, SEEK_SET) == 0 ? RELAY_OK : RELAY_FAILED;
}
