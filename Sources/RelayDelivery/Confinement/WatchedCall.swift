// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// A system call about files by their path: what it would do, and with which of its arguments. The kernel carries it out, within
/// what Landlock allows.
struct WatchedCall: Equatable, Sendable {
  enum Purpose: Equatable, Sendable {
    case open, make, node, remove, move, link, symlink, cut
  }

  var purpose: Purpose
  /// Which arguments point to paths.
  var paths: [Int]
  /// Which argument holds O_…, and which the mode of what is made.
  var flags: Int?
  var mode: Int?

  /// By name; those that may begin at a folder's descriptor are heard of only where they don't.
  static let byName: [String: WatchedCall] = [
    "open": .init(purpose: .open, paths: [0], flags: 1, mode: 2),
    "openat": .init(purpose: .open, paths: [1], flags: 2, mode: 3),
    "creat": .init(purpose: .make, paths: [0], mode: 1),
    "mknod": .init(purpose: .node, paths: [0], mode: 1), "mknodat": .init(purpose: .node, paths: [1], mode: 2),
    "mkdir": .init(purpose: .make, paths: [0]), "mkdirat": .init(purpose: .make, paths: [1]),
    "rmdir": .init(purpose: .remove, paths: [0]), "unlink": .init(purpose: .remove, paths: [0]),
    "unlinkat": .init(purpose: .remove, paths: [1]),
    "rename": .init(purpose: .move, paths: [0, 1]), "renameat": .init(purpose: .move, paths: [1, 3]),
    "renameat2": .init(purpose: .move, paths: [1, 3]),
    "link": .init(purpose: .link, paths: [1]), "linkat": .init(purpose: .link, paths: [3]),
    "symlink": .init(purpose: .symlink, paths: [1]), "symlinkat": .init(purpose: .symlink, paths: [2]),
    "truncate": .init(purpose: .cut, paths: [0]),
  ]

  // The same on every architecture (asm-generic/fcntl.h). The first is O_TMPFILE without O_DIRECTORY.
  private static let anonymous: Int32 = 0o20000000
  private static let namesOnly: Int32 = 0o10000000

  /// Whether it would make something.
  func makes(_ call: SystemCallListener.Call) -> Bool {
    guard let flags else { return purpose != .cut && purpose != .remove }
    return call.int(flags) & (O_CREAT | Self.anonymous) != 0
  }

  /// Whether it would change what is there.
  func writes(_ call: SystemCallListener.Call) -> Bool {
    guard let flags else { return true }
    return call.int(flags) & O_ACCMODE != O_RDONLY || call.int(flags) & (O_TRUNC | Self.anonymous) != 0
  }

  /// Whether no rights are asked for: what is opened so can neither be read nor written.
  func onlyNames(_ call: SystemCallListener.Call) -> Bool { flags.map { call.int($0) & Self.namesOnly != 0 } ?? false }

  /// Whether Landlock denies it whatever the path: a target makes no symbolic links, pipes, sockets or devices.
  func isNeverAllowed(_ call: SystemCallListener.Call) -> Bool {
    guard purpose == .node, let mode else { return purpose == .symlink }
    return ![0, S_IFREG].contains(mode_t(truncatingIfNeeded: call.int(mode)) & S_IFMT)
  }

  /// Whether the worker's filter would deny it if nobody listened: a file that gives whoever runs it its owner's rights, and, before
  /// level 3 of Landlock, which has no right for that, cutting by path and by opening for reading.
  func isForbidden(_ call: SystemCallListener.Call, landlock: Int) -> Bool {
    if let mode, makes(call), call.int(mode) & Int32(S_ISUID | S_ISGID) != 0 { return true }
    guard landlock < 3 else { return false }
    if purpose == .cut { return true }
    return flags.map { call.int($0) & (O_TRUNC | O_ACCMODE) == O_TRUNC | O_RDONLY } ?? false
  }
}
