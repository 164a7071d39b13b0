/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "worker.h"

struct kept {
  struct kept *next;
  char bytes[];
};

static struct kept *all_kept;

char *keep(const void *bytes, uint64_t length) {
  struct kept *kept = malloc(sizeof *kept + length + 1);
  if (kept == NULL) return NULL;
  kept->next = all_kept;
  all_kept = kept;
  if (length > 0) memcpy(kept->bytes, bytes, length);
  kept->bytes[length] = 0;
  return kept->bytes;
}

void forget_kept(void) {
  while (all_kept != NULL) {
    struct kept *next = all_kept->next;
    free(all_kept);
    all_kept = next;
  }
}
