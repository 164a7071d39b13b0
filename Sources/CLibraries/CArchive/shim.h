/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive for Swift, loaded when the first ZIP is written or read.
 *
 * It brings a dozen libraries of its own, which take a millisecond to load; a command needs three for its whole start. */
#ifndef RELAY_CARCHIVE_SHIM_H
#define RELAY_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stddef.h>

#define RELAY_ARCHIVE_LIBRARY "libarchive.so.13"

#define RELAY_ARCHIVE_CALLS(call)                                                                                      \
  call(archive_error_string) call(archive_write_new) call(archive_write_set_format_zip)                                \
  call(archive_write_zip_set_compression_deflate) call(archive_write_set_options)                                      \
  call(archive_write_set_bytes_per_block) call(archive_write_set_bytes_in_last_block) call(archive_write_open2)        \
  call(archive_write_header) call(archive_write_data) call(archive_write_finish_entry) call(archive_write_close)       \
  call(archive_write_fail) call(archive_write_free) call(archive_entry_new) call(archive_entry_free)                   \
  call(archive_entry_set_pathname_utf8) call(archive_entry_set_filetype) call(archive_entry_set_perm)                  \
  call(archive_entry_set_uid) call(archive_entry_set_gid) call(archive_entry_set_size) call(archive_entry_set_mtime)   \
  call(archive_entry_size) call(archive_entry_size_is_set) call(archive_entry_mtime) call(archive_read_new)            \
  call(archive_read_support_format_zip_seekable) call(archive_read_support_format_zip_streamable)                      \
  call(archive_read_set_seek_callback) call(archive_read_set_read_callback) call(archive_read_set_callback_data)       \
  call(archive_read_open1) call(archive_read_next_header) call(archive_read_data) call(archive_read_free)

/* The functions under their own names, with the types that the header gives them. */
typedef struct relay_archive_calls {
#define RELAY_ARCHIVE_FIELD(name) __typeof__(name) *_Nonnull name;
  RELAY_ARCHIVE_CALLS(RELAY_ARCHIVE_FIELD)
#undef RELAY_ARCHIVE_FIELD
} relay_archive_calls;

/* NULL when the library isn't there, or lacks one of them. Not to be called by two threads at once; loaded once, it stays. */
static inline const relay_archive_calls *_Nullable relay_archive_load(void) {
  static relay_archive_calls calls;
  void *library = dlopen(RELAY_ARCHIVE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  void *found;
#define RELAY_ARCHIVE_FIND(name)                                                                                       \
  if ((found = dlsym(library, #name)) == NULL) return NULL;                                                            \
  calls.name = (__typeof__(name) *)found;
  RELAY_ARCHIVE_CALLS(RELAY_ARCHIVE_FIND)
#undef RELAY_ARCHIVE_FIND
  return &calls;
}

#endif
