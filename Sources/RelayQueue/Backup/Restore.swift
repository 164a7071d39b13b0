// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// Puts a backup back into a state folder.
///
/// A marker stands in the folder before anything else does, and the file `format` is written when all the rest is on the
/// disk. So a folder in which a restore was cut short is never taken for a state folder, and the restore is begun again.
package struct Restore {
  /// What was there before and was kept.
  package private(set) var kept: [String] = []

  private let backup: BackupReader
  private let root: Directory
  private let syncsEach: Bool
  private let copy: FileCopy
  private var folders: (path: [String], folder: Directory)

  private static let mark =
    "A restore by relay-host has begun here and hasn't come to its end: run it again with the same backup.\n"

  /// Verifies the backup, then writes it into the state folder, which is made when it isn't there.
  ///
  /// - Parameter progress: told all the time; false ends it.
  /// - Returns: what was there before and was kept: secrets that a person had set already.
  package static func run(
    _ backup: BackupReader, into path: String, format: StateFormat = .shipped,
    progress: (BackupProgress) -> Bool = { _ in true }
  ) throws(BackupError) -> [String] {
    let found = backup.manifest.format
    guard found <= format.current else {
      throw .newerFormat(path: backup.root.path, found: found, known: format.current)
    }
    // Before hours of reading.
    if let there = try? Directory(path) { _ = try beginsAgain(in: there) }
    try backup.verify(progress: progress)
    let root = try BackupSide.restoring { () throws(SystemError) in try Directory.ensure(path) }
    _ = try beginsAgain(in: root)
    let lock: StateLock
    do throws(StateError) { lock = try StateLock.take(in: root) } catch {
      if case .system(let cause) = error { throw .restoring(cause) }
      throw .state(error)
    }
    defer { withExtendedLifetime(lock) {} }
    // Somebody may have been faster.
    _ = try beginsAgain(in: root)
    try BackupSide.restoring { () throws(SystemError) in
      try root.replace(StateFormat.restoreMarker, with: Array(mark.utf8))
      try root.removeTree("pipelines")
    }
    var restore = Restore(backup, root)
    do throws(BackupError) {
      try restore.writeAll(progress)
    } catch {
      restore.giveUp()
      throw error
    }
    do throws(StateError) { try StateFormat.write(found, to: root) } catch {
      if case .system(let cause) = error { throw .restoring(cause) }
      throw .state(error)
    }
    forgetMarker(in: root)
    try? root.sync()
    return restore.kept
  }

  /// Once `format` is there the marker says nothing any more.
  static func forgetMarker(in root: Directory) { try? root.remove(StateFormat.restoreMarker) }

  /// Whether a restore was cut short there.
  ///
  /// - Throws: when the folder holds what a restore must not touch.
  private static func beginsAgain(in root: Directory) throws(BackupError) -> Bool {
    let names = try BackupSide.restoring { () throws(SystemError) in try root.names() }
    if names.contains(StateFormat.fileName) { throw .stateNotEmpty(path: root.path, holds: StateFormat.fileName) }
    let isCutShort = names.contains(StateFormat.restoreMarker)
    let ours: Set<String> = isCutShort ? [StateFormat.restoreMarker, "pipelines"] : []
    if let strange = names.first(where: { !StateFormat.harmless.contains($0) && !ours.contains($0) }) {
      throw .stateNotEmpty(path: root.path, holds: strange)
    }
    return isCutShort
  }

  private init(_ backup: BackupReader, _ root: Directory) {
    self.backup = backup
    self.root = root
    syncsEach = root.mayHaveRemoteWriters
    copy = FileCopy(syncsEach: syncsEach)
    folders = ([], root)
  }

  private mutating func writeAll(_ progress: (BackupProgress) -> Bool) throws(BackupError) {
    // Also of a pipeline with nothing in it, and so that commands can look before the daemon's first start.
    for pipeline in backup.manifest.pipelines {
      for place in PipelineFolder.subfolders { _ = try folder(["pipelines", pipeline.id, place]) }
    }
    var done = BackupProgress()
    try backup.forEachEntry { entry, file throws(BackupError) in
      let folder = try folder(entry.folders)
      done.pipeline = entry.folders.count > 1 ? entry.folders[1] : ""
      if entry.folders.first == "pipelines" {
        try write(entry, file, to: folder, as: entry.name) { count in
          done.bytes += Int64(count)
          return progress(done)
        }
      } else {
        try writeKeeping(entry, file, to: folder)
      }
      done.files += 1
      guard progress(done) else { throw .stopped }
    }
    let (root, syncsEach) = (root, syncsEach)
    try BackupSide.restoring { () throws(SystemError) in
      if syncsEach { try Self.syncFolders(in: root, depth: 0) }
      try root.descriptor.syncFileSystem()
    }
  }

  private mutating func folder(_ path: [String]) throws(BackupError) -> Directory {
    if folders.path == path { return folders.folder }
    let root = root
    let found = try BackupSide.restoring { () throws(SystemError) in
      var folder = root
      for name in path {
        let parent = folder
        do throws(SystemError) { folder = try parent.folder(name) } catch {
          guard error.isMissing else { throw error }
          try parent.makeFolder(name)
          folder = try parent.folder(name)
        }
      }
      return folder
    }
    folders = (path, found)
    return found
  }

  private func write(
    _ entry: BackupEntry, _ source: Descriptor, to folder: Directory, as name: [UInt8], goesOn: (Int) -> Bool
  ) throws(BackupError) {
    let file = try BackupSide.restoring { () throws(SystemError) in try folder.createFile(raw: name) }
    let copied: (size: Int64, digest: Digest)
    do throws(FileCopy.Failure) {
      copied = try copy.run(from: source, to: file, goesOn: goesOn)
    } catch {
      switch error {
      case .reading(let error): throw .unreadable(error)
      case .writing(let error): throw .restoring(error)
      case .hashUnavailable: throw .hashUnavailable
      case .stopped: throw .stopped
      }
    }
    try BackupReader.compare(entry, copied.size, copied.digest)
    if let modified = entry.modified {
      try BackupSide.restoring { () throws(SystemError) in try file.setModified(modified) }
    }
  }

  /// What a person has put there already stays; nothing is ever there by half.
  private mutating func writeKeeping(
    _ entry: BackupEntry, _ source: Descriptor, to folder: Directory
  ) throws(BackupError) {
    if let there = try? folder.openFile(raw: entry.name) {
      if (try? SHA256Hasher.digest(of: there))?.digest != entry.sha256 { kept.append(entry.path) }
      return
    }
    let temporary = Array(".restoring".utf8)
    try BackupSide.restoring { () throws(SystemError) in try folder.removeTree(".restoring") }
    try write(entry, source, to: folder, as: temporary) { _ in true }
    try BackupSide.restoring { () throws(SystemError) in
      try folder.openFile(raw: temporary).sync()
      try folder.rename(raw: temporary, as: entry.name, exclusive: true)
    }
  }

  /// Leaves the folder as new; what can't be removed is left to the next restore.
  private func giveUp() {
    do throws(SystemError) {
      try root.removeTree("pipelines")
      try root.remove(StateFormat.restoreMarker)
      try root.sync()
    } catch {
      // The marker stays beside it.
    }
  }

  private static func syncFolders(in folder: Directory, depth: Int) throws(SystemError) {
    guard depth < 8 else { return }
    for name in try folder.names() where try folder.status(of: name)?.kind == .folder {
      try syncFolders(in: try folder.folder(name), depth: depth + 1)
    }
    try folder.sync()
  }
}
