// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// Files that wait in the pipeline's own inbox: nobody has accepted them yet, but they are people's data.
extension PipelineCopy {
  /// In nanoseconds: so long a file must have been left alone where it can't be told who has it open.
  private static let quiet: Int64 = 10_000_000_000

  func hasChanged(_ key: Key, _ known: Copied) -> Bool {
    guard key.place == .inbox, known.number != nil else { return false }
    guard let now = try? place(.inbox)?.status(ofRaw: key.name) else { return false }
    return now.size != known.status?.size || now.modified != known.status?.modified
      || now.inode != known.status?.inode
  }

  /// Copies a file that is whole; one that isn't is left to the next round, and at last left out.
  func copyInboxFile(_ key: Key, _ inode: UInt64) throws(BackupError) {
    guard let folder = place(.inbox) else { return }
    guard let file = openInboxFile(key.name, in: folder) else { return }
    try writeInboxFile(key, inode, file)
  }

  /// nil when it isn't whole, is none, or can't be read: one that nobody can read can't be taken either, and `status`
  /// tells of it.
  func openInboxFile(_ name: [UInt8], in folder: Directory) -> Descriptor? {
    guard let file = try? folder.openFile(raw: name), let status = try? file.status(), Self.isWhole(file, status) else {
      return nil
    }
    return file
  }

  private static func isWhole(_ file: Descriptor, _ status: FileStatus) -> Bool {
    do throws(SystemError) {
      guard try file.takeReadLease() else { return false }
      // Let go at once: who wants to write to it isn't made to wait for a copy.
      file.releaseLease()
      return true
    } catch {
      // Another user's file, or a file system without leases.
      let now = WallTime.now.milliseconds.multipliedReportingOverflow(by: 1_000_000)
      return !now.overflow && now.partialValue.subtractingReportingOverflow(status.modified).partialValue > quiet
    }
  }

  func writeInboxFile(_ key: Key, _ inode: UInt64, _ file: Descriptor) throws(BackupError) {
    guard let before = try? file.status() else { return }
    let target = try target(.inbox)
    let entry = try writer.copy(
      file, to: target, folders(key), key.name, limit: before.size, modified: before.modified)
    let after = try? file.status()
    guard entry.size == before.size, let after, after.size == before.size, after.modified == before.modified,
      Self.isWhole(file, after)
    else {
      try BackupSide.destination { () throws(SystemError) in try target.remove(raw: key.name) }
      return
    }
    let number = nextNumber()
    try scratch.add(entry, of: number)
    copied[key] = Copied(inode: inode, number: number, status: before)
  }
}
