/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_WORKER_H
#define FUZZ_WORKER_H

#include <stddef.h>
#include <stdint.h>

/* What a worker did with all that came over its line. */
struct fuzz_worker_result {
  int exit;                             /* its exit status */
  uint32_t calls;                       /* of the target's functions */
  uint64_t sent;                        /* frames to the host */
  uint64_t checksum;                    /* of all bytes to the host */
  const char *broken;                   /* which promise of the worker's doesn't hold, or NULL */
};

/* Serves these bytes as if they came from the host, in pieces of at most `piece` bytes (0: any size). The target is one of
 * our own that calls every function of the host. One at a time. */
struct fuzz_worker_result fuzz_worker_run(const uint8_t *bytes, size_t count, size_t piece);

/* The door to libFuzzer, which has no header of its own: takes its arguments off the command line and calls `one` with input
 * after input. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*one)(const uint8_t *start, size_t count));

#endif
