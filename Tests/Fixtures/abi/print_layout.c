/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "relay_target.h"

/* Prints every size and offset of the ABI, a line each; the golden file beside the test is this output. */
#define SIZE(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu\n", offsetof(type, field))

int main(void) {
  SIZE(relay_text);
  FIELD(relay_text, bytes);
  FIELD(relay_text, length);
  SIZE(relay_pair);
  FIELD(relay_pair, name);
  FIELD(relay_pair, value);
  SIZE(relay_verdict);
  FIELD(relay_verdict, size);
  FIELD(relay_verdict, code);
  FIELD(relay_verdict, reason);
  FIELD(relay_verdict, status);
  FIELD(relay_verdict, retry_after_ms);
  FIELD(relay_verdict, bytes_sent);
  FIELD(relay_verdict, flags);
  FIELD(relay_verdict, reserved);
  SIZE(relay_delivery);
  FIELD(relay_delivery, size);
  FIELD(relay_delivery, fd);
  FIELD(relay_delivery, length);
  FIELD(relay_delivery, sha256);
  FIELD(relay_delivery, file_name);
  FIELD(relay_delivery, media_type);
  FIELD(relay_delivery, content_encoding);
  FIELD(relay_delivery, pipeline_id);
  FIELD(relay_delivery, pipeline_name);
  FIELD(relay_delivery, artifact_id);
  FIELD(relay_delivery, delivery_id);
  FIELD(relay_delivery, message_id);
  FIELD(relay_delivery, part_index);
  FIELD(relay_delivery, part_count);
  FIELD(relay_delivery, attempt);
  FIELD(relay_delivery, flags);
  FIELD(relay_delivery, created_unix_ms);
  FIELD(relay_delivery, first_attempt_unix_ms);
  FIELD(relay_delivery, cancel_fd);
  FIELD(relay_delivery, reserved);
  FIELD(relay_delivery, attributes);
  FIELD(relay_delivery, attribute_count);
  SIZE(relay_host);
  FIELD(relay_host, size);
  FIELD(relay_host, abi);
  FIELD(relay_host, context);
  FIELD(relay_host, log);
  FIELD(relay_host, progress);
  FIELD(relay_host, should_stop);
  FIELD(relay_host, read);
  FIELD(relay_host, rewind);
  FIELD(relay_host, emit_manifest);
  FIELD(relay_host, setting_text);
  FIELD(relay_host, setting_integer);
  FIELD(relay_host, setting_flag);
  FIELD(relay_host, setting_count);
  FIELD(relay_host, setting_name);
  FIELD(relay_host, settings_json);
  FIELD(relay_host, secret);
  FIELD(relay_host, set_message);
  FIELD(relay_host, set_receipt);
  FIELD(relay_host, scratch);
  FIELD(relay_host, state_get);
  FIELD(relay_host, state_put);
  FIELD(relay_host, state_delete);
  FIELD(relay_host, state_next);
  FIELD(relay_host, extension);
  return 0;
}
