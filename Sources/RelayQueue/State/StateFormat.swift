// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// The version of the layout on disk, kept in the file `format`, and the steps that lead to the newest one.
package struct StateFormat: Sendable {
  /// Brings a folder from one version to the next.
  ///
  /// Must be safe to repeat: a crash in its middle, or behind it, begins it again. What it wrote is put on the disk before
  /// the new version is.
  package typealias Migration = @Sendable (Directory) throws(SystemError) -> Void

  static let fileName = "format"
  /// Stands in the folder from the beginning of a restore to its end; see `Restore`.
  static let restoreMarker = "restoring"

  /// The steps in order: the first leads from version 1 to 2.
  private let migrations: [Migration]

  /// Of this program.
  package static let shipped = StateFormat(migrations: [])

  package init(migrations: [Migration]) { self.migrations = migrations }

  /// What the program writes.
  package var current: UInt64 { UInt64(migrations.count) + 1 }

  /// What a state folder may hold before it has a format: what a person prepares, and what a crash at first start leaves.
  static let harmless: Set<String> = [
    "lock", "secrets", "templates", "certificates", "targets", "pipelines.json", ".format.new", ".\(restoreMarker).new",
    "lost+found",
  ]

  /// The folder's version; nil when it is new. Changes nothing.
  func version(of root: Directory) throws(StateError) -> UInt64? {
    let bytes = try asState { () throws(SystemError) in try root.content(of: Self.fileName, limit: 64) }
    if let bytes {
      guard let version = Self.parse(bytes) else { throw .unreadableFormat(path: root.path) }
      guard version <= current else { throw .newerFormat(path: root.path, found: version, known: current) }
      return version
    }
    let names = try asState { () throws(SystemError) in try root.names() }
    // Its format comes last, so without it the restore hasn't come to its end.
    if names.contains(Self.restoreMarker) { throw .unfinishedRestore(path: root.path) }
    let foreign = names.filter { !Self.harmless.contains($0) }
    if let name = foreign.contains("pipelines") ? "pipelines" : foreign.first {
      throw .notAStateFolder(path: root.path, holds: name)
    }
    return nil
  }

  private static func parse(_ bytes: [UInt8]) -> UInt64? {
    var digits = bytes
    if digits.last == 10 { digits.removeLast() }
    // Exactly as it is written: what looks different was made by something else.
    guard let version = UInt64(String(decoding: digits, as: UTF8.self)), version > 0,
      Array(String(version).utf8) == digits
    else { return nil }
    return version
  }

  /// Brings the folder to the current version. Called with the lock held.
  func bringUp(_ root: Directory, from version: UInt64?) throws(StateError) {
    guard let version else { return try Self.write(current, to: root) }
    for (step, migrate) in zip(UInt64(1)..., migrations) where step >= version {
      try asState { () throws(SystemError) in
        try migrate(root)
        try Self.sync(root)
      }
      try Self.write(step + 1, to: root)
    }
  }

  /// Puts all that a step wrote on the disk: of the folder's own file system, and of those that a person has mounted on
  /// pipelines.
  private static func sync(_ root: Directory) throws(SystemError) {
    try root.descriptor.syncFileSystem()
    guard try root.status(of: "pipelines")?.kind == .folder else { return }
    let pipelines = try root.folder("pipelines")
    var synced: Set<UInt64> = [try root.descriptor.status().device]
    for name in try pipelines.names() where try pipelines.status(of: name)?.kind == .folder {
      let folder = try pipelines.folder(name)
      if synced.insert(try folder.descriptor.status().device).inserted { try folder.descriptor.syncFileSystem() }
    }
  }

  static func write(_ version: UInt64, to root: Directory) throws(StateError) {
    try asState { () throws(SystemError) in try root.replace(fileName, with: Array("\(version)\n".utf8)) }
  }
}
