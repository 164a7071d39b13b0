/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in the worker's place: becomes the real worker with the shim preloaded. The host starts its workers with a clean
 * environment, so the shim can't come from there. What it needs lies beside it: fault-shim.so, faults, relay-worker.real.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  (void)count;
  char own[PATH_MAX], path[PATH_MAX + 32];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length <= 0) return 126;
  own[length] = 0;
  char *slash = strrchr(own, '/');
  if (!slash) return 126;
  *slash = 0;
  snprintf(path, sizeof path, "%s/fault-shim.so", own);
  setenv("LD_PRELOAD", path, 1);
  snprintf(path, sizeof path, "%s/faults", own);
  setenv("RELAY_FAULTS", path, 1);
  snprintf(path, sizeof path, "%s/relay-worker.real", own);
  execv(path, arguments);
  return 127;
}
