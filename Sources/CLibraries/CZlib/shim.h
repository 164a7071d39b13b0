/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_CZLIB_SHIM_H
#define RELAY_CZLIB_SHIM_H

#include <zlib.h>

/* inflateInit2 is a macro; 16 added to the window asks for gzip alone. */
static inline int relay_inflate_gzip(z_stream *stream) { return inflateInit2(stream, MAX_WBITS + 16); }

/* The same for writing; level 0 to 9. */
static inline int relay_deflate_gzip(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
