/* SPDX-License-Identifier: Apache-2.0
 *
 * relay-worker: loads one target, does for it what the host asks over descriptor 3, and ends with the line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "confinement.h"
#include "frames.h"
#include "settings.h"

struct worker worker;

static const void *host_extension(void *context, const char *name) {
  (void)context;
  (void)name;
  return NULL;
}

const relay_host relay_host_table = {
    .size = sizeof(relay_host),
    .abi = RELAY_TARGET_ABI,
    .context = &worker,
    .log = host_log,
    .progress = host_progress,
    .should_stop = host_should_stop,
    .read = host_read,
    .rewind = host_rewind,
    .emit_manifest = host_emit_manifest,
    .setting_text = host_setting_text,
    .setting_integer = host_setting_integer,
    .setting_flag = host_setting_flag,
    .setting_count = host_setting_count,
    .setting_name = host_setting_name,
    .settings_json = host_settings_json,
    .secret = host_secret,
    .set_message = host_set_message,
    .set_receipt = host_set_receipt,
    .scratch = host_scratch,
    .state_get = host_state_get,
    .state_put = host_state_put,
    .state_delete = host_state_delete,
    .state_next = host_state_next,
    .extension = host_extension,
};

/* The frame may be freed afterwards, unless the worker goes on using its bytes. */
static bool serve(struct frame *frame) {
  if (frame->type == RELAY_FRAME_LEAVE) call_leave();
  if (worker.target.failed) return true;
  switch (frame->type) {
    case RELAY_FRAME_ACCESS: call_access(frame); return true;
    case RELAY_FRAME_LOAD: call_load(frame); return true;
    case RELAY_FRAME_DESCRIBE: call_describe(frame); return true;
    case RELAY_FRAME_OPEN: call_open(frame); return false;
    case RELAY_FRAME_DELIVER: call_deliver(frame); return true;
    case RELAY_FRAME_CHECK: call_check(frame); return true;
    default: protocol_broken("a frame that nobody asked for");
  }
}

int main(int argument_count, char **arguments) {
  if (argument_count == 3 && strcmp(arguments[1], "filter") == 0) return calls_print(atoi(arguments[2]));
  setup_process(argument_count == 2 ? arguments[1] : "");
  struct outgoing hello = {.count = 0};
  put_u32(&hello, RELAY_PROTOCOL_VERSION);
  frame_send(RELAY_FRAME_HELLO, 0, &hello, NULL, 0);
  for (;;) {
    struct frame *frame = frame_receive();
    if (serve(frame)) frame_free(frame);
  }
}
