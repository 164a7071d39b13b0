/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "folder_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int relay_folder_rename_new(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int relay_folder_lock(int file) { return flock(file, LOCK_EX | LOCK_NB); }

static int look(int folder, const char *path, struct statx *about) {
  return statx(folder, path, AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_INO | STATX_MNT_ID, about);
}

static int same(const struct statx *a, const struct statx *b) {
  return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
         a->stx_mnt_id == b->stx_mnt_id;
}

int relay_folder_mount_steps(int folder) {
  struct statx here, root, above;
  if (look(folder, "", &here) != 0 || look(AT_FDCWD, "/", &root) != 0) return -1;
  if (!(here.stx_mask & STATX_MNT_ID)) { /* Linux before 5.8 */
    errno = ENOSYS;
    return -1;
  }
  int current = folder, steps = 0;
  for (; here.stx_mnt_id != root.stx_mnt_id; steps++) {
    int next = openat(current, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (current != folder) close(current);
    if (next < 0) return -1;
    current = next;
    if (look(current, "", &above) != 0) {
      close(current);
      return -1;
    }
    if (above.stx_mnt_id != here.stx_mnt_id || same(&above, &here)) break;
    here = above;
  }
  int found = here.stx_mnt_id != root.stx_mnt_id;
  if (current != folder) close(current);
  return found ? steps : INT_MAX;
}
