/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

int32_t host_emit_manifest(void *context, const char *json, uint64_t length) {
  (void)context;
  if (!allowed("emit_manifest", DURING_DESCRIBE)) return RELAY_DENIED;
  if (worker.manifest_sent || length > RELAY_MAXIMUM_MANIFEST || (json == NULL && length > 0)) {
    complain(worker.manifest_sent ? "the target handed over a second manifest"
                                  : "the target's manifest is longer than %d bytes",
             RELAY_MAXIMUM_MANIFEST);
    return RELAY_DENIED;
  }
  struct outgoing out = {.count = 0};
  put_u32(&out, (uint32_t)length);
  frame_send(RELAY_FRAME_MANIFEST, atomic_load(&worker.request), &out, json, (uint32_t)length);
  worker.manifest_sent = true;
  return RELAY_OK;
}

void host_set_message(void *context, const char *bytes, uint64_t length) {
  (void)context;
  if (!allowed("set_message", DURING_WORK)) return;
  worker.message_length = text_clean(worker.message, sizeof worker.message, bytes, length);
}

void host_set_receipt(void *context, const char *bytes, uint64_t length) {
  (void)context;
  if (!allowed("set_receipt", DURING_DELIVER)) return;
  worker.receipt_length = text_clean(worker.receipt, sizeof worker.receipt, bytes, length);
}
