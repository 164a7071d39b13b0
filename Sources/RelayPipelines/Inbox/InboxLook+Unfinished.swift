// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem

/// A taking that was begun and not brought to its end.
struct UnfinishedTaking: Sendable {
  enum Fate: Sendable {
    /// The artifact is durable: the file is to be removed.
    case committed
    /// The file is to get its name back.
    case notCommitted
    /// Known only after a restart.
    case unsure(QueueError)
    /// From before the program's start: the queue tells.
    case fromBefore
  }

  var note: TakingNote
  var fate: Fate
}

extension InboxLook {
  /// Ends what was begun before anything else is taken; there is at most one.
  mutating func settleUnfinished(in folder: Directory) throws(InboxProblem) {
    if !memory.hasReadNote {
      do throws(SystemError) {
        memory.unfinished = try TakingNote.read(in: options.pipeline.folder).map {
          UnfinishedTaking(note: $0, fate: .fromBefore)
        }
      } catch {
        throw .note(error)
      }
      memory.hasReadNote = true
    }
    guard let unfinished = memory.unfinished else { return }
    switch unfinished.fate {
    case .committed: try removeTaken(unfinished.note, in: folder)
    case .notCommitted: try putBack(unfinished.note, in: folder)
    case .unsure(let error): throw .unsure(error)
    case .fromBefore: try settleFromBefore(unfinished.note, in: folder)
    }
    memory.unfinished = nil
  }

  private mutating func settleFromBefore(_ note: TakingNote, in folder: Directory) throws(InboxProblem) {
    let moved = try status(of: note.takenName, in: folder)
    // A power cut may have undone the renaming.
    let unmoved = try status(of: note.name, in: folder)
    guard moved != nil || note.isUnmoved(unmoved) else { return }
    guard try wasCommitted(note) else {
      memory.perhapsTaken = note
      return try putBack(note, in: folder)
    }
    if moved == nil {
      do throws(SystemError) {
        try folder.rename(raw: note.name, as: note.takenName)
      } catch {
        throw .cannotRemove(file: PartName.display(note.name), error)
      }
    }
    memory.unfinished?.fate = .committed
    try removeTaken(note, in: folder)
  }

  /// Removes the file of a committed artifact; if it was written to since, it gets its name back to be taken again.
  mutating func removeTaken(
    _ note: TakingNote, in folder: Directory, mayBeHeldOpen: Bool = false
  ) throws(InboxProblem) {
    let name = note.takenName
    if let status = try status(of: name, in: folder) {
      guard note.isOf(status), !mayBeHeldOpen, !isHeldOpen(name, in: folder) else {
        say(.notice, "\(PartName.display(note.name)) was written to after it was taken; it will be taken again")
        memory.unfinished?.fate = .notCommitted
        try putBack(note, in: folder)
        memory.unfinished = nil
        return
      }
      do throws(SystemError) {
        try folder.remove(raw: name)
      } catch {
        if error.code != ENOENT { throw .cannotRemove(file: PartName.display(note.name), error) }
      }
    }
    // Only the next note forgets this file, and that one is written after this.
    do { try folder.sync() } catch { throw .cannotRemove(file: PartName.display(note.name), error) }
    memory.unfinished = nil
  }

  func isHeldOpen(_ name: [UInt8], in folder: Directory) -> Bool {
    guard let file = try? folder.openFile(raw: name), let granted = try? file.takeReadLease() else { return false }
    return !granted
  }

  private func putBack(_ note: TakingNote, in folder: Directory) throws(InboxProblem) {
    let name = note.takenName
    do throws(SystemError) {
      do throws(SystemError) {
        try folder.rename(raw: name, as: note.name, exclusive: true)
      } catch {
        switch error.code {
        case ENOENT: return
        case EEXIST:
          try folder.rename(raw: name, as: InboxName.alternative(note.artifactID, for: note.name))
        // A file system that can't do it exclusively.
        case EINVAL where try folder.status(ofRaw: note.name) == nil: try folder.rename(raw: name, as: note.name)
        default: throw error
        }
      }
    } catch {
      throw .cannotPutBack(file: PartName.display(note.name), error)
    }
  }

  private func status(of name: [UInt8], in folder: Directory) throws(InboxProblem) -> FileStatus? {
    do { return try folder.status(ofRaw: name) } catch { throw .folder(error) }
  }

  /// Whether the artifact is, or was, in the queue; if so, it is made sure that it stays.
  private func wasCommitted(_ note: TakingNote) throws(InboxProblem) -> Bool {
    do throws(ArtifactDamage) {
      return try Self.holds(options.pipeline, note.artifactID)
    } catch {
      throw .unclear(file: PartName.display(note.name), error)
    }
  }

  static func holds(_ pipeline: PipelineFolder, _ id: Identifier) throws(ArtifactDamage) -> Bool {
    do throws(SystemError) {
      // The youngest first: it is one of the last.
      for sequence in try pipeline.sequences().sorted(by: >) where try identifier(of: sequence, in: pipeline) == id {
        try pipeline.queue.sync()
        return true
      }
      if try pipeline.refused().contains(where: { $0.artifactID == id }) { return true }
      return try pipeline.deliveryLog.last().contains { $0.artifact == id.description }
    } catch {
      throw .unreadable(error)
    }
  }

  /// nil for what is damaged or has left meanwhile.
  private static func identifier(of sequence: UInt64, in pipeline: PipelineFolder) throws(SystemError) -> Identifier? {
    do throws(ArtifactDamage) {
      return try pipeline.openArtifact(sequence).manifest.artifactID
    } catch {
      if case .unreadable(let cause) = error { throw cause }
      return nil
    }
  }
}
