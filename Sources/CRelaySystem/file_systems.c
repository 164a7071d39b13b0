/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "relay_system.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#ifndef FS_TOPDIR_FL
#define FS_TOPDIR_FL 0x00020000         /* in older headers of the kernel it is ext4's own */
#endif

int relay_spread_subfolders(int fd) {
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
  if (flags & FS_TOPDIR_FL) return 0;
  flags |= FS_TOPDIR_FL;
  return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* The numbers are those of statfs(2) and of each file system's source in the kernel. */
int relay_is_shared_file_system(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return -1;
  switch ((unsigned long)info.f_type & 0xffffffffUL) {
    case 0x6969UL:     /* nfs */
    case 0x517bUL:     /* smb */
    case 0xff534d42UL: /* cifs */
    case 0xfe534d42UL: /* smb2 */
    case 0x65735546UL: /* fuse, also sshfs and glusterfs */
    case 0x01021997UL: /* 9p */
    case 0x00c36400UL: /* ceph */
    case 0x5346414fUL: /* afs (openafs) */
    case 0x6b414653UL: /* afs (kernel) */
    case 0x73757245UL: /* coda */
    case 0x01161970UL: /* gfs2 */
    case 0x7461636fUL: /* ocfs2 */
    case 0x0bd00bd0UL: /* lustre */
    case 0x786f4256UL: /* vboxsf */
      return 1;
    default: return 0;
  }
}
