// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The kernel calls that go through this module, by the name that tests use to make one fail.
package enum SystemCall: String, Sendable, CaseIterable {
  case open, read, write, sync, syncFileSystem, status, truncate, allocate, lock, lease, clone, seek
  case makeDirectory, rename, link, unlink, removeDirectory, list, mode, times, owner, spaceLeft
  case poll, event, signal, spawn, processDescriptor, wait, socket, listen, connect, accept, send, receive, watch,
    random
}

/// A kernel call that failed: which, with which errno, on what.
package struct SystemError: Error, Equatable, Sendable {
  package var call: SystemCall
  /// The errno value.
  package var code: Int32
  /// The path or name it was about; empty where there is none.
  package var subject: String

  package init(call: SystemCall, code: Int32, subject: String) {
    self.call = call
    self.code = code
    self.subject = subject
  }

  /// Whether the file system has no room: no blocks, no inodes, or a quota is used up.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

  /// Whether nothing stands under the name.
  package var isMissing: Bool { code == ENOENT }

  /// Whether it tells of the name itself: nothing is there, nobody may pass, or no such name can be. Anything else, a disk
  /// that fails or a machine that has run out of something, says nothing about what stands there.
  package var isAboutName: Bool {
    [ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EINVAL, ENXIO, ENODEV].contains(code)
  }

  /// Whether this process or the machine has run out of descriptors, memory or processes: passes by itself.
  package var isExhaustion: Bool {
    code == EMFILE || code == ENFILE || code == ENOMEM || code == EAGAIN || code == ENOBUFS
  }
}

extension SystemError {
  /// The kernel's own words for an errno value, for example "No space left on device".
  package static func text(of code: Int32) -> String {
    var room = [CChar](repeating: 0, count: 256)
    guard strerror_r(code, &room, room.count) == 0 else { return "error \(code)" }
    let text = String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.isEmpty ? "error \(code)" : text
  }

  /// What happened and where, for people.
  package var message: String {
    let cause =
      switch (call, code) {
      // That is how this module tells of a FIFO, device or socket under a file's name.
      case (.open, EINVAL): "it is no regular file"
      case (.open, ELOOP): "it is a link, and none is followed here"
      default: Self.text(of: code)
      }
    return subject.isEmpty ? "\(call.rawValue) failed: \(cause)" : "\(call.rawValue) failed on \(subject): \(cause)"
  }
}
