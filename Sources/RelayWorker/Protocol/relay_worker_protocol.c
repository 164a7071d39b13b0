/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_worker_protocol.h"

#include "relay_confinement.h"

_Static_assert(RELAY_FRAME_HEADER == 4 + 2 + 2 + 8, "the header's fields");
_Static_assert(sizeof(relay_checksum) == 48, "no padding, so that it can be compared bytewise");
_Static_assert((RELAY_CONFINE_FILES | RELAY_CONFINE_CALLS) == RELAY_CONFINE_ALL, "no other piece");
