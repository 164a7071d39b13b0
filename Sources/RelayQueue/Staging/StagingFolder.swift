// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// The folder of an artifact that is being written; its lock tells recovery that its writer lives.
enum StagingFolder {
  static func name(_ id: Identifier) -> String { SequenceName.stagingPrefix + id.description }

  /// Makes and locks the folder. The lock comes a moment after the folder, so recovery may have removed it in between:
  /// then it is made again.
  static func make(for id: Identifier, in queue: Directory) throws(QueueError) -> Directory {
    let name = name(id)
    do throws(SystemError) {
      for _ in 0..<8 {
        try queue.makeFolder(name)
        guard let folder = try openExisting(name, in: queue) else { continue }
        guard try folder.descriptor.lock(wait: true) else { continue }
        if try queue.status(of: name)?.inode == folder.descriptor.status().inode { return folder }
      }
      throw SystemError(call: .lock, code: EBUSY, subject: queue.path + "/" + name)
    } catch {
      throw QueueError(error)
    }
  }

  private static func openExisting(_ name: String, in queue: Directory) throws(SystemError) -> Directory? {
    do {
      return try queue.folder(name)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }
}
