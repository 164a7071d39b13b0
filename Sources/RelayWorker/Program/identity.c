/* SPDX-License-Identifier: Apache-2.0
 *
 * Who a worker is when the host runs as root: the owner of the state folder, or root without what makes root almighty.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confinement.h"

bool identity_drop(uid_t user, gid_t group, const gid_t *groups, size_t count) {
  return setgroups(count, groups) == 0 && setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
}

bool identity_shed_powers(void) {
  /* What a person expects of root in a folder that they named: it can write there, whoever owns it. */
  static const uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER | 1u << CAP_CHOWN;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct now[2];
  if (syscall(SYS_capget, &header, now) != 0) return false;
  struct __user_cap_data_struct wanted[2] = {{now[0].effective & kept, now[0].permitted & kept, 0}, {0, 0, 0}};
  return syscall(SYS_capset, &header, wanted) == 0;
}
