// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// That this process alone changes a state folder; holds as long as it lives.
///
/// Locked are the folder itself and the file `lock` in it. The file is what other programs and backups look at; but it can be
/// deleted while it is held, and a new one would be free. The folder can't be lost that way.
struct StateLock: Sendable {
  private let folder: Directory
  private let file: Descriptor

  /// - Throws: `.inUse` when another process holds it, with the number that it wrote into `lock`.
  static func take(in root: Directory) throws(StateError) -> StateLock {
    let file = try asState { () throws(SystemError) in try root.openOrCreateFile("lock") }
    // Opened for itself: the lock is the open file's, and must end with this value, whoever else holds the folder.
    let folder = try asState { () throws(SystemError) in try root.folder(".") }
    let isTaken = try asState { () throws(SystemError) -> Bool in
      guard try file.lockPatiently() else { return false }
      return try lock(folder)
    }
    guard isTaken else {
      let text = try? file.readAll(limit: 64)
      let pid = text.flatMap { Int64(String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self)) }
      throw .inUse(path: root.path, pid: pid)
    }
    // The number is for people; a full disk must not keep the program from starting.
    try? file.truncate(to: 0)
    try? file.write(Array("\(ProcessNumber.own)\n".utf8), at: 0)
    return StateLock(folder: folder, file: file)
  }

  /// NFS locks only what is open for writing, which a folder never is: there the file alone has to do.
  private static func lock(_ folder: Directory) throws(SystemError) -> Bool {
    do {
      return try folder.descriptor.lockPatiently()
    } catch {
      guard error.code == EBADF || error.code == ENOLCK || error.code == EOPNOTSUPP else { throw error }
      return true
    }
  }
}
