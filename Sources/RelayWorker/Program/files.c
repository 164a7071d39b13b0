/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the file system the target may open: Landlock by its own system calls. A ruleset is begun with the first rule
 * and put into force before the target is loaded; what was opened before stays open.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confinement.h"

/* The same on every architecture. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define WHICH_LEVEL 1u
#define PATH_BENEATH 1

/* A kernel that knows fewer fields takes the struct all the same while the rest is zero. */
struct ruleset {
  uint64_t files, network, scopes;
};

struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static int ruleset = -1, level;
static const char *failure;             /* the call that failed, with errno kept */
static int failed_with;

static void failed(const char *call) {
  if (failure != NULL) return;
  failure = call;
  failed_with = errno;
}

static bool begin(void) {
  if (ruleset >= 0) return true;
  if (failure != NULL) return false;
  level = (int)syscall(CREATE_RULESET, NULL, 0, WHICH_LEVEL);
  if (level <= 0) {
    failed("landlock_create_ruleset");
    level = 0;
    return false;
  }
  relay_landlock_level table = relay_landlock(level);
  struct ruleset attributes = {table.files, table.network, table.scopes};
  ruleset = (int)syscall(CREATE_RULESET, &attributes, sizeof attributes, 0);
  if (ruleset < 0) failed("landlock_create_ruleset");
  return ruleset >= 0;
}

/* Takes the descriptor, which names the path. */
static void allow(int path, uint32_t access) {
  struct stat about;
  bool known = fstat(path, &about) == 0;
  if (!known) failed("fstat");
  if (known && begin()) {
    struct path_rule rule = {relay_landlock_rights(level, access, S_ISDIR(about.st_mode)), path};
    if (rule.allowed != 0 && syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) != 0) failed("landlock_add_rule");
  }
  close(path);
}

void files_allow_opened(int path, uint32_t access) { allow(path, access); }

void files_allow(const char *path, uint32_t access) {
  int opened;
  do opened = open(path, O_PATH | O_CLOEXEC);
  while (opened < 0 && errno == EINTR);
  if (opened >= 0) return allow(opened, access);
  /* A name that leads nowhere is none that the target could miss. After another failure nobody knows what stands there. */
  if (!error_lasts(errno)) failed("open");
}

#ifdef HAS_SANITIZER
/* scripts/sanitizers/options.c: where reports go, when it is linked in. */
extern const char *relay_sanitizer_reports(void) __attribute__((weak));
#endif

int files_level(void) { return level; }

bool files_confine(const char **call, int *error) {
  /* Its own: what runtimes look at to learn where their stack ends. Opened here, since for the host it would be the host's. */
  files_allow("/proc/self", RELAY_ACCESS_READ);
#ifdef HAS_SANITIZER
  if (relay_sanitizer_reports != NULL) files_allow(relay_sanitizer_reports(), RELAY_ACCESS_WRITE);
#endif
  if (begin() && failure == NULL) {
    if (syscall(RESTRICT_SELF, ruleset, relay_landlock(level).restrict_flags) != 0) failed("landlock_restrict_self");
    close(ruleset);
  }
  *call = failure;
  *error = failed_with;
  return failure == NULL;
}
