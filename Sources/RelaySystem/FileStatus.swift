// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel tells of a file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable {
    case file, folder, link, other
  }

  package var kind: Kind
  /// In bytes.
  package var size: Int64
  package var device: UInt64
  package var inode: UInt64
  /// Permission bits.
  package var mode: UInt32
  package var owner: UInt32
  package var links: UInt64
  /// Nanoseconds since 1970.
  package var modified: Int64
  /// Nanoseconds since 1970; moves with every change of content, name or mode, and can't be set by a copy.
  package var changed: Int64

  init(_ raw: stat) {
    switch raw.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    size = Int64(raw.st_size)
    device = UInt64(raw.st_dev)
    inode = UInt64(raw.st_ino)
    mode = UInt32(raw.st_mode & 0o7777)
    owner = raw.st_uid
    links = UInt64(raw.st_nlink)
    modified = Int64(raw.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(raw.st_mtim.tv_nsec)
    changed = Int64(raw.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(raw.st_ctim.tv_nsec)
  }
}
