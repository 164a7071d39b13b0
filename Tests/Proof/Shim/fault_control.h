/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test and the preloaded shim share: a mapped file of this layout, named by the environment variable RELAY_FAULTS.
 * The test writes it at any time, before the program starts or while it runs. All numbers are of the machine's own byte order.
 */
#ifndef FAULT_CONTROL_H
#define FAULT_CONTROL_H

#include <stdint.h>

enum fault_effect {
  FAULT_NONE = 0,
  FAULT_KILL = 1,      /* SIGKILL before the call */
  FAULT_ERRNO = 2,     /* the call isn't made and fails with `value` */
  FAULT_SHORT = 3,     /* a read or write moves half of its bytes, one at least; other calls pass */
  FAULT_POWER_CUT = 4, /* the file system of `folder` is shut down without a flush, then SIGKILL */
  FAULT_DELAY = 5,     /* `value` nanoseconds pass before the call */
  FAULT_STOP = 6       /* SIGSTOP before the call */
};

enum fault_kind {
  FAULT_DURABLE = 1, /* what changes files: open for writing, write, sync, rename, unlink, mkdir, truncate */
  FAULT_NETWORK = 2, /* sockets, those of the program itself too */
  FAULT_READ = 4,    /* opening and reading files */
  FAULT_PROCESS = 8, /* starting programs, pipes */
  FAULT_TRANSFER = 16, /* added to the above: only those that move bytes */
  FAULT_SYNC = 32      /* likewise: only those that put bytes on the disk */
};

/* Names of the calls, for people: fault_shim.c and FaultControl.swift hold the same order. */
enum fault_call {
  CALL_ANY = 0,
  CALL_OPEN, CALL_WRITE, CALL_SYNC, CALL_SYNC_DATA, CALL_SYNC_ALL, CALL_RENAME, CALL_UNLINK, CALL_MKDIR, CALL_TRUNCATE,
  CALL_ALLOCATE, CALL_CLOSE, CALL_READ, CALL_SOCKET, CALL_CONNECT, CALL_ACCEPT, CALL_BIND, CALL_LISTEN, CALL_SEND,
  CALL_RECEIVE, CALL_SPAWN, CALL_PIPE, CALL_COUNT
};

enum { FAULT_TRACE = 65536, FAULT_FOLDER = 512 };

struct fault_control {
  uint64_t count;       /* calls of the chosen kinds so far */
  uint64_t at;          /* the first that is struck, from 1; 0 strikes none */
  uint64_t times;       /* how many are struck from there on */
  uint64_t effect;      /* enum fault_effect */
  int64_t value;        /* an errno, or nanoseconds */
  uint64_t kinds;       /* which calls count: a sum of enum fault_kind */
  uint64_t call;        /* only this call counts; CALL_ANY is all */
  uint64_t struck;      /* how many were struck */
  int64_t wall_offset;  /* nanoseconds that the wall clock is ahead */
  int64_t boot_offset;  /* nanoseconds that the clocks since boot are ahead */
  char folder[FAULT_FOLDER];  /* only files under this folder count */
  uint8_t trace[FAULT_TRACE]; /* which call each count was, enum fault_call */
};

#endif
