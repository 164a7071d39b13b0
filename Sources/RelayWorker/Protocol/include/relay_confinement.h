/* SPDX-License-Identifier: Apache-2.0
 *
 * relay_confinement.h - what a worker may do with files, as Landlock knows it. The numbers are the kernel's
 * (Documentation/userspace-api/landlock.rst), written out because a distribution's headers are older than the kernels that
 * the program meets.
 *
 * Everything here is a value: which rights a level of Landlock knows, and which of them a path is given.
 */
#ifndef RELAY_CONFINEMENT_H
#define RELAY_CONFINEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* --- Landlock's rights, by the level that brought them -------------------------------------------------------------- */

#define RELAY_FILE_EXECUTE (UINT64_C(1) << 0)
#define RELAY_FILE_WRITE (UINT64_C(1) << 1)
#define RELAY_FILE_READ (UINT64_C(1) << 2)
#define RELAY_FILE_LIST (UINT64_C(1) << 3)              /* open a folder */
#define RELAY_FILE_REMOVE_FOLDER (UINT64_C(1) << 4)
#define RELAY_FILE_REMOVE (UINT64_C(1) << 5)
#define RELAY_FILE_MAKE_CHARACTER_DEVICE (UINT64_C(1) << 6)
#define RELAY_FILE_MAKE_FOLDER (UINT64_C(1) << 7)
#define RELAY_FILE_MAKE (UINT64_C(1) << 8)              /* a regular file */
#define RELAY_FILE_MAKE_SOCKET (UINT64_C(1) << 9)
#define RELAY_FILE_MAKE_PIPE (UINT64_C(1) << 10)
#define RELAY_FILE_MAKE_BLOCK_DEVICE (UINT64_C(1) << 11)
#define RELAY_FILE_MAKE_LINK (UINT64_C(1) << 12)        /* a symbolic one */
#define RELAY_FILE_MOVE (UINT64_C(1) << 13)             /* level 2: rename or link from one folder to another */
#define RELAY_FILE_TRUNCATE (UINT64_C(1) << 14)         /* level 3 */
#define RELAY_FILE_DEVICE_CONTROL (UINT64_C(1) << 15)   /* level 5: ioctl of a device */

#define RELAY_SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0)  /* level 6 */
#define RELAY_SCOPE_SIGNAL (UINT64_C(1) << 1)           /* level 6 */

#define RELAY_LANDLOCK_NEWEST 7         /* the highest level this table knows; a newer kernel is used as this one */

/* What a worker asks a kernel of one level for. */
typedef struct relay_landlock_level {
  uint64_t files;                       /* handled, so denied but where a rule allows it */
  uint64_t network;                     /* handled; none: a target exists to connect, and seccomp denies listening */
  uint64_t scopes;
  uint32_t restrict_flags;              /* level 7 has some, for the audit log: its default, which tells of denials, is right */
} relay_landlock_level;

static inline relay_landlock_level relay_landlock(int level) {
  static const relay_landlock_level levels[RELAY_LANDLOCK_NEWEST + 1] = {
      {0, 0, 0, 0},
      /* 1, Linux 5.13: the base. */
      {0x1FFF, 0, 0, 0},
      /* 2, Linux 5.19: moves between folders can be allowed. Before, they are always denied. */
      {0x1FFF | RELAY_FILE_MOVE, 0, 0, 0},
      /* 3, Linux 6.2: cutting a file. Before, seccomp denies it by path and on opening for reading. */
      {0x1FFF | RELAY_FILE_MOVE | RELAY_FILE_TRUNCATE, 0, 0, 0},
      /* 4, Linux 6.7: TCP, which stays open. */
      {0x1FFF | RELAY_FILE_MOVE | RELAY_FILE_TRUNCATE, 0, 0, 0},
      /* 5, Linux 6.10: ioctl of devices. Before, only /dev/null and /dev/urandom can be opened anyway. */
      {0x1FFF | RELAY_FILE_MOVE | RELAY_FILE_TRUNCATE | RELAY_FILE_DEVICE_CONTROL, 0, 0, 0},
      /* 6, Linux 6.12: signals and abstract sockets. Before, seccomp alone denies both. */
      {0x1FFF | RELAY_FILE_MOVE | RELAY_FILE_TRUNCATE | RELAY_FILE_DEVICE_CONTROL, 0,
       RELAY_SCOPE_ABSTRACT_SOCKET | RELAY_SCOPE_SIGNAL, 0},
      /* 7, Linux 6.15: what the audit log tells. */
      {0x1FFF | RELAY_FILE_MOVE | RELAY_FILE_TRUNCATE | RELAY_FILE_DEVICE_CONTROL, 0,
       RELAY_SCOPE_ABSTRACT_SOCKET | RELAY_SCOPE_SIGNAL, 0},
  };
  if (level < 0) level = 0;
  return levels[level < RELAY_LANDLOCK_NEWEST ? level : RELAY_LANDLOCK_NEWEST];
}

/* --- What a path is given --------------------------------------------------------------------------------------------- */

#define RELAY_ACCESS_READ 1u            /* a file, or a folder with all below it */
#define RELAY_ACCESS_WRITE 2u           /* as above, and to change it: files and folders are made, replaced and removed */

/* The rights of one path at one level. Never to execute, and nothing that isn't a file or folder: a device, pipe, socket or
 * symbolic link made in a folder would lead others astray. */
static inline uint64_t relay_landlock_rights(int level, uint32_t access, bool is_folder) {
  uint64_t rights = RELAY_FILE_READ;
  if (is_folder) rights |= RELAY_FILE_LIST;
  if (access == RELAY_ACCESS_WRITE) {
    rights |= RELAY_FILE_WRITE | RELAY_FILE_TRUNCATE;
    if (is_folder) {
      rights |= RELAY_FILE_REMOVE | RELAY_FILE_REMOVE_FOLDER | RELAY_FILE_MAKE | RELAY_FILE_MAKE_FOLDER | RELAY_FILE_MOVE;
    }
  } else if (access != RELAY_ACCESS_READ) {
    rights = 0;
  }
  return rights & relay_landlock(level).files;
}

/* --- What became of it ------------------------------------------------------------------------------------------------ */

#define RELAY_CONFINE_FILES 1u          /* by Landlock */
#define RELAY_CONFINE_CALLS 2u          /* by seccomp */
#define RELAY_CONFINE_ALL 3u

#endif
