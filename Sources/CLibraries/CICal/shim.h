/* SPDX-License-Identifier: Apache-2.0 */
/* libical for Swift. */
#ifndef RELAY_CICAL_SHIM_H
#define RELAY_CICAL_SHIM_H

#include <libical/ical.h>

#endif
