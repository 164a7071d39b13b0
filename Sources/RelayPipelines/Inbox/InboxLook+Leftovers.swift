// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem

/// Dot names whose note is gone: the pipeline was removed or renamed, its folder restored from a backup, another folder was
/// its inbox meanwhile, or the note was damaged.
extension InboxLook {
  /// Whether a dot name belongs to no taking that is known, and has been there for so long that it is nobody's.
  mutating func isLeftover(_ name: [UInt8], in folder: Directory) -> Bool {
    guard name != memory.unfinished?.note.takenName, let status = try? folder.status(ofRaw: name) else { return false }
    let quiet = memory.quiet.quiet(InboxFile(name: name, status: status).key, now: now)
    if quiet < Self.leftoverAge { waitForLeftover(Self.leftoverAge - quiet) }
    return quiet >= Self.leftoverAge
  }

  /// Removes the file if its artifact was taken; else it gets its name back, and is taken under the same identifier.
  mutating func settleLeftover(_ name: [UInt8], in folder: Directory) {
    guard let status = try? folder.status(ofRaw: name) else { return }
    let file = InboxFile(name: name, status: status)
    guard let (id, own) = InboxName.parse(taken: name), status.kind == .file else { return leave(.leftover, file) }
    do throws(SystemError) {
      let isAsTaken = isUntouched(file, since: id, in: folder)
      if isAsTaken, try wasTaken(id) {
        try folder.remove(raw: name)
        try folder.sync()
        return say(.notice, "\(file.displayName) is removed: it was taken before, as artifact \(id)")
      }
      let back = try giveBack(file, id, own ?? Array(id.description.utf8), in: folder)
      say(.warning, "\(PartName.display(back)) has its name back in the inbox: its taking was cut short")
      // Other bytes are another artifact.
      if isAsTaken, let status = try folder.status(ofRaw: back) {
        memory.perhapsTaken = TakingNote(InboxFile(name: back, status: status), as: id)
      }
    } catch {
      leave(.unreadable(error), file)
    }
  }

  private mutating func leave(_ trouble: FileTrouble, _ file: InboxFile) {
    say(trouble, file)
    result.stays("\(file.displayName) in the inbox \(trouble.message)")
  }

  /// Whether it holds what was taken: it wasn't written to since, and nobody has it open for that.
  private func isUntouched(_ file: InboxFile, since id: Identifier, in folder: Directory) -> Bool {
    guard let begun = id.time else { return false }
    return file.status.modified / 1_000_000 <= begun.milliseconds && !isHeldOpen(file.name, in: folder)
  }

  private func wasTaken(_ id: Identifier) throws(SystemError) -> Bool {
    do throws(ArtifactDamage) { return try Self.holds(options.pipeline, id) } catch {
      if case .unreadable(let cause) = error { throw cause }
      return false
    }
  }

  private func giveBack(
    _ file: InboxFile, _ id: Identifier, _ own: [UInt8], in folder: Directory
  ) throws(SystemError) -> [UInt8] {
    do throws(SystemError) {
      try folder.rename(raw: file.name, as: own, exclusive: true)
      return own
    } catch {
      let isFree = error.code == EINVAL ? try folder.status(ofRaw: own) == nil : false
      guard error.code == EEXIST || error.code == EINVAL else { throw error }
      // A file system that can't do it exclusively; or another file has the name by now.
      let back = isFree ? own : InboxName.alternative(id, for: own)
      try folder.rename(raw: file.name, as: back)
      return back
    }
  }
}
