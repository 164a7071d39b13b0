/* SPDX-License-Identifier: Apache-2.0 */
/* Linux calls of the folder target that Swift's view of glibc lacks. All report an error as -1 with errno. */
#ifndef RELAY_FOLDER_SYSTEM_H
#define RELAY_FOLDER_SYSTEM_H

/* Renames within one folder; EEXIST if the new name is taken, EINVAL where the file system can't tell. */
int relay_folder_rename_new(int folder, const char *from, const char *to);

/* How many steps up from this folder its mount begins: 0 if it is a mount point itself. INT_MAX if nothing is mounted between
 * it and "/", so that it lies on the root file system's own mount. Opens with O_PATH alone, which confinement allows. */
int relay_folder_mount_steps(int folder);

/* Takes (wait 0: only if free) the exclusive flock of an open file. */
int relay_folder_lock(int file);

#endif
