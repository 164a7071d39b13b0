// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// The version of the layout on disk, kept in the file `format`.
enum StateFormat {
  static let current: UInt64 = 1
  static let fileName = "format"

  /// A step that brings a folder from its version to the next; must be safe to repeat after a crash in its middle.
  struct Migration: Sendable {
    var from: UInt64
    var run: @Sendable (Directory) throws(SystemError) -> Void
  }

  /// In order, without gaps.
  static let migrations: [Migration] = []

  /// What a state folder may hold before it has a format: what a person prepares, and what a crash at first start leaves.
  private static let harmless: Set<String> = [
    "lock", "secrets", "templates", "certificates", "targets", "pipelines.json", ".format.new", "lost+found",
  ]

  /// The folder's version; nil when it is new. Changes nothing.
  static func version(of root: Directory) throws(StateError) -> UInt64? {
    let bytes = try asState { () throws(SystemError) in try root.content(of: fileName, limit: 64) }
    if let bytes {
      var digits = bytes
      if digits.last == 10 { digits.removeLast() }
      guard let version = UInt64(String(decoding: digits, as: UTF8.self)), version > 0 else {
        throw .unreadableFormat(path: root.path)
      }
      guard version <= current else { throw .newerFormat(path: root.path, found: version, known: current) }
      return version
    }
    for name in try asState({ () throws(SystemError) in try root.names() }) where !harmless.contains(name) {
      throw .notAStateFolder(path: root.path, holds: name)
    }
    return nil
  }

  /// Brings the folder to the current version. Called with the lock held.
  static func bringUp(_ root: Directory, from version: UInt64?) throws(StateError) {
    guard var version else { return try write(current, to: root) }
    while version < current {
      guard let step = migrations.first(where: { $0.from == version }) else {
        throw .unreadableFormat(path: root.path)
      }
      try asState { () throws(SystemError) in try step.run(root) }
      version += 1
      try write(version, to: root)
    }
  }

  private static func write(_ version: UInt64, to root: Directory) throws(StateError) {
    try asState { () throws(SystemError) in try root.replace(fileName, with: Array("\(version)\n".utf8)) }
  }
}
