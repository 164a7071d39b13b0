/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_target.h"

/* Touches what only use reveals: the macros, and each function's declaration from a definition. */
uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  return host->emit_manifest(host->context, "{}", 2);
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  *instance = NULL;
  verdict->code = RELAY_HAS(host, relay_host, extension) ? RELAY_NONE : RELAY_NEEDS_ATTENTION;
  return verdict->code != RELAY_NONE;
}
