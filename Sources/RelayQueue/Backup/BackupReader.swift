// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// Reads a backup and finds every byte of it that isn't as it was written.
package struct BackupReader {
  package let root: Directory
  package let manifest: BackupManifest

  /// - Throws: when the folder holds no backup, or one that this version doesn't know.
  package init(_ root: Directory) throws(BackupError) {
    self.root = root
    let bytes = try BackupSide.reading { () throws(SystemError) in
      try root.content(of: BackupManifest.fileName, limit: BackupManifest.largest)
    }
    guard let bytes else { throw .notABackup(path: root.path) }
    do throws(BackupManifest.Problem) {
      manifest = try BackupManifest.decode(bytes)
    } catch {
      switch error {
      case .damaged(let reason): throw .damaged(file: BackupManifest.fileName, reason: reason)
      case .newer(let found):
        throw .newerBackup(path: root.path, found: found, known: BackupManifest.version)
      case .hashUnavailable: throw .hashUnavailable
      }
    }
  }

  /// Reads all of it through.
  ///
  /// - Parameter progress: told all the time; false ends it.
  package func verify(progress: (BackupProgress) -> Bool = { _ in true }) throws(BackupError) {
    if let configuration = manifest.configuration { try check(BackupFolder.configuration, configuration) }
    try check(BackupFolder.list, manifest.list)
    var done = BackupProgress()
    try forEachEntry { entry, file throws(BackupError) in
      let found = try Self.digest(of: file)
      try Self.compare(entry, found.size, found.digest)
      done.pipeline = entry.folders.count > 1 ? entry.folders[1] : ""
      done.files += 1
      done.bytes += found.size
      guard progress(done) else { throw .stopped }
    }
  }

  static func compare(_ entry: BackupEntry, _ size: Int64, _ digest: Digest) throws(BackupError) {
    guard size == entry.size else {
      throw .damaged(file: entry.path, reason: "it has \(size) bytes instead of \(entry.size)")
    }
    guard digest == entry.sha256 else { throw .damaged(file: entry.path, reason: "its SHA-256 differs") }
  }

  /// Opens each file of the list.
  func forEachEntry(_ body: (BackupEntry, Descriptor) throws(BackupError) -> Void) throws(BackupError) {
    var lines = LineReader(try open(Array(BackupFolder.list.utf8), in: root, BackupFolder.list))
    var (last, folder) = ([String](), root)
    while let line = try BackupSide.reading({ () throws(SystemError) in try lines.next() }) {
      guard let entry = BackupEntry(line: line) else {
        throw .damaged(file: BackupFolder.list, reason: "a line can't be understood")
      }
      if entry.folders != last {
        folder = try self.folder(entry)
        last = entry.folders
      }
      try body(entry, try open(entry.name, in: folder, entry.path))
    }
  }

  private func folder(_ entry: BackupEntry) throws(BackupError) -> Directory {
    var folder = root
    for name in entry.folders {
      let parent = folder
      do { folder = try parent.folder(name) } catch {
        guard error.isMissing || error.code == ENOTDIR || error.code == ELOOP else { throw .unreadable(error) }
        throw .damaged(file: entry.path, reason: "its folder is missing")
      }
    }
    return folder
  }

  private func open(_ name: [UInt8], in folder: Directory, _ path: String) throws(BackupError) -> Descriptor {
    do { return try folder.openFile(raw: name) } catch {
      if error.isMissing { throw .damaged(file: path, reason: "it is missing") }
      guard error.isNoFile else { throw .unreadable(error) }
      throw .damaged(file: path, reason: "it is no regular file")
    }
  }

  private func check(_ name: String, _ expected: BackupManifest.Content) throws(BackupError) {
    let file = try open(Array(name.utf8), in: root, name)
    let found = try Self.digest(of: file)
    try Self.compare(
      BackupEntry(folders: [], name: Array(name.utf8), size: expected.size, sha256: expected.sha256), found.size,
      found.digest)
  }

  private static func digest(of file: Descriptor) throws(BackupError) -> (digest: Digest, size: Int64) {
    do {
      return try SHA256Hasher.digest(of: file)
    } catch {
      if case .system(let error) = error { throw .unreadable(error) }
      throw .hashUnavailable
    }
  }
}
