// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// The folder that a backup is written to, locked for this process.
///
/// A marker stands in it from the first moment; it says that whatever lies beside it is an unfinished backup's, which the
/// next one may clear. `backup.json` comes last.
final class BackupFolder {
  static let marker = "backup-unfinished"
  static let list = "files.ndjson"
  /// Lines of the pipeline that is being copied: what leaves the queue meanwhile is not taken over into the list.
  static let scratch = "files.scratch"
  static let configuration = "pipelines.json"
  private static let ours = BackupEntry.roots.union([
    marker, list, scratch, configuration, ".\(configuration).new", ".\(BackupManifest.fileName).new", ".\(marker).new",
  ])
  /// A file system's own.
  private static let passedOver: Set<String> = ["lost+found"]

  let root: Directory
  /// Whether each file has to be synced by itself: a network file system doesn't promise more than that.
  let syncsEach: Bool
  private(set) var copy: FileCopy

  private let mark =
    "This folder holds a backup by relay-host that is being written, or was cut short: without backup.json it is none.\n"

  /// Takes the folder for a new backup; one that was cut short in it is cleared.
  init(_ root: Directory) throws(BackupError) {
    self.root = root
    syncsEach = root.mayHaveRemoteWriters
    copy = FileCopy(syncsEach: syncsEach)
    guard try BackupSide.destination({ () throws(SystemError) in try root.descriptor.lockPatiently() }) else {
      throw .busy(path: root.path)
    }
    let names = try BackupSide.destination { () throws(SystemError) in try root.names() }
    if names.contains(BackupManifest.fileName) { throw .finished(path: root.path) }
    let isCutShort = names.contains(Self.marker)
    if let strange = names.first(where: {
      !Self.passedOver.contains($0) && !(Self.ours.contains($0) && (isCutShort || $0 == ".\(Self.marker).new"))
    }) {
      throw .notEmpty(path: root.path, holds: strange)
    }
    let mark = mark
    try BackupSide.destination { () throws(SystemError) in
      if !isCutShort { try root.replace(Self.marker, with: Array(mark.utf8)) }
      for name in Self.ours where name != Self.marker { try root.removeTree(name) }
    }
  }

  /// Puts everything on the disk, then says that it is a backup.
  func finish(_ manifest: BackupManifest) throws(BackupError) {
    let bytes = try BackupSide.hashing { () throws(ArchiveError) in try manifest.encoded() }
    try BackupSide.destination { () throws(SystemError) in
      try root.removeTree(Self.scratch)
      if syncsEach { try syncFolders(in: root, depth: 0) } else { try root.descriptor.syncFileSystem() }
      try root.replace(BackupManifest.fileName, with: bytes)
    }
    // It is one now; a marker that stays says nothing any more.
    try? root.remove(Self.marker)
    try? root.sync()
  }

  /// Removes what was written; what can't be removed is cleared by the next backup.
  func giveUp() {
    // It stands already when only putting it on the disk failed: it goes first, lest it vouch for what is gone. Where it can't go,
    // all that it vouches for stays.
    do throws(SystemError) { try root.remove(BackupManifest.fileName) } catch { guard error.isMissing else { return } }
    try? root.sync()
    for name in Self.ours where name != Self.marker { try? root.removeTree(name) }
    let names = (try? root.names()) ?? [""]
    if names.allSatisfy({ $0 == Self.marker || Self.passedOver.contains($0) }) { try? root.remove(Self.marker) }
  }

  private func syncFolders(in folder: Directory, depth: Int) throws(SystemError) {
    guard depth < 8 else { return }
    for name in try folder.names() where try folder.status(of: name)?.kind == .folder {
      try syncFolders(in: try folder.folder(name), depth: depth + 1)
    }
    try folder.sync()
  }
}
