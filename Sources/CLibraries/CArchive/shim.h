/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive for Swift. */
#ifndef RELAY_CARCHIVE_SHIM_H
#define RELAY_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

#endif
