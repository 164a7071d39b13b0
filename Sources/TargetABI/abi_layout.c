/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_target.h"

/* The layout that targets were compiled against: a change here breaks every one of them, so it stops our own build
 * first. */
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " changed its size")
#define FIELD(type, field, bytes) _Static_assert(offsetof(type, field) == (bytes), #type "." #field " moved")

SIZE(relay_text, 16);
FIELD(relay_text, bytes, 0);
FIELD(relay_text, length, 8);

SIZE(relay_pair, 32);
FIELD(relay_pair, name, 0);
FIELD(relay_pair, value, 16);

SIZE(relay_verdict, 40);
FIELD(relay_verdict, size, 0);
FIELD(relay_verdict, code, 4);
FIELD(relay_verdict, reason, 8);
FIELD(relay_verdict, status, 12);
FIELD(relay_verdict, retry_after_ms, 16);
FIELD(relay_verdict, bytes_sent, 24);
FIELD(relay_verdict, flags, 32);
FIELD(relay_verdict, reserved, 36);

SIZE(relay_delivery, 232);
FIELD(relay_delivery, size, 0);
FIELD(relay_delivery, fd, 4);
FIELD(relay_delivery, length, 8);
FIELD(relay_delivery, sha256, 16);
FIELD(relay_delivery, file_name, 48);
FIELD(relay_delivery, media_type, 64);
FIELD(relay_delivery, content_encoding, 80);
FIELD(relay_delivery, pipeline_id, 96);
FIELD(relay_delivery, pipeline_name, 112);
FIELD(relay_delivery, artifact_id, 128);
FIELD(relay_delivery, delivery_id, 144);
FIELD(relay_delivery, message_id, 160);
FIELD(relay_delivery, part_index, 176);
FIELD(relay_delivery, part_count, 180);
FIELD(relay_delivery, attempt, 184);
FIELD(relay_delivery, flags, 188);
FIELD(relay_delivery, created_unix_ms, 192);
FIELD(relay_delivery, first_attempt_unix_ms, 200);
FIELD(relay_delivery, cancel_fd, 208);
FIELD(relay_delivery, reserved, 212);
FIELD(relay_delivery, attributes, 216);
FIELD(relay_delivery, attribute_count, 224);

SIZE(relay_host, 184);
FIELD(relay_host, size, 0);
FIELD(relay_host, abi, 4);
FIELD(relay_host, context, 8);
FIELD(relay_host, log, 16);
FIELD(relay_host, progress, 24);
FIELD(relay_host, should_stop, 32);
FIELD(relay_host, read, 40);
FIELD(relay_host, rewind, 48);
FIELD(relay_host, emit_manifest, 56);
FIELD(relay_host, setting_text, 64);
FIELD(relay_host, setting_integer, 72);
FIELD(relay_host, setting_flag, 80);
FIELD(relay_host, setting_count, 88);
FIELD(relay_host, setting_name, 96);
FIELD(relay_host, settings_json, 104);
FIELD(relay_host, secret, 112);
FIELD(relay_host, set_message, 120);
FIELD(relay_host, set_receipt, 128);
FIELD(relay_host, scratch, 136);
FIELD(relay_host, state_get, 144);
FIELD(relay_host, state_put, 152);
FIELD(relay_host, state_delete, 160);
FIELD(relay_host, state_next, 168);
FIELD(relay_host, extension, 176);
