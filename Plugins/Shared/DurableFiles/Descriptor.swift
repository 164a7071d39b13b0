// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which file it is, and how long.
package struct FileFacts: Equatable {
  package let device: UInt64
  package let inode: UInt64
  package let size: Int64
  package let isRegular: Bool
  package let mode: UInt32

  init(_ facts: stat) {
    device = UInt64(facts.st_dev)
    inode = UInt64(facts.st_ino)
    size = Int64(facts.st_size)
    mode = UInt32(facts.st_mode) & 0o7777
    isRegular = facts.st_mode & S_IFMT == S_IFREG
  }
}

/// An open file; closed when nobody holds it any more.
package final class Descriptor {
  package private(set) var number: Int32

  package init(_ number: Int32) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  package func release() -> Int32 {
    defer { number = -1 }
    return number
  }
}
