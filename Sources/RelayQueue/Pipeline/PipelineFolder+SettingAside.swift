// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

extension PipelineFolder {
  /// Moves an artifact to `refused/` with its reason; durable when this returns. Once more has no effect.
  /// Returns its name there if the reason could not be written, because the disk is full or the folder damaged.
  ///
  /// Call this first and mark the sequence as completed then: a recovery that finds it completed but still in the queue
  /// takes it for damage.
  @discardableResult
  package func setAside(_ sequence: UInt64, reason: SetAsideReason) throws(SystemError) -> String? {
    try move(sequence, to: "refused", reason)
  }

  /// Writes the reason beside an artifact in `refused/` that has none. Returns whether there is nothing left to do.
  package func tell(_ reason: SetAsideReason, of name: String) -> Bool {
    do throws(SystemError) {
      let artifact = try subfolder("refused").folder(name)
      if try artifact.status(of: SetAsideReason.fileName) == nil {
        try artifact.replace(SetAsideReason.fileName, with: reason.bytes())
      }
      return true
    } catch {
      // Sent again or deleted meanwhile.
      return error.isMissing
    }
  }

  /// Moves an artifact to `corrupt/`; durable when this returns. Once more has no effect.
  package func moveToCorrupt(_ sequence: UInt64, reason: String) throws(SystemError) {
    try move(sequence, to: "corrupt", SetAsideReason(verdict: "damaged", message: reason))
  }

  @discardableResult
  private func move(_ sequence: UInt64, to place: String, _ reason: SetAsideReason) throws(SystemError) -> String? {
    let name = SequenceName.name(sequence)
    let (queue, target) = (try queue, try subfolder(place))
    let size = sizeIfMeasured(sequence)
    return try books.withLock { (books: inout QueueBooks) throws(SystemError) in
      var untold: String?
      if let entry = try queue.status(of: name) {
        // The reason is a help; an artifact whose folder takes no more files (full disk, damage) is moved without it.
        var isTold = true
        if entry.kind == .folder {
          let artifact = try? queue.folder(name)
          try? artifact?.remove(QueuedArtifact.unfinishedBundle)
          do { try artifact?.replace(SetAsideReason.fileName, with: reason.bytes()) } catch { isTold = false }
          if artifact == nil { isTold = false }
        }
        let newName = try Self.rename(name, from: queue, toFreeNameIn: target)
        if !isTold { untold = newName }
        books.departed(sequence, size)
      } else if try target.status(of: name) == nil {
        throw SystemError(call: .rename, code: ENOENT, subject: queuePath + "/" + name)
      }
      // The new place first: after a crash in between it is at least in one.
      try target.sync()
      try queue.sync()
      return untold
    }
  }

  /// Whether an artifact is known not to be in the queue any more.
  package func hasLeft(_ sequence: UInt64) -> Bool {
    do throws(SystemError) { return try queue.status(of: SequenceName.name(sequence)) == nil } catch { return false }
  }

  /// The name may be taken, by what lay under the same number before the marks were lost.
  private static func rename(
    _ name: String, from queue: Directory, toFreeNameIn target: Directory
  ) throws(SystemError) -> String {
    for attempt in 1...1000 {
      let free = attempt == 1 ? name : "\(name)-\(attempt)"
      do {
        try queue.rename(name, to: target, as: free, exclusive: true)
        return free
      } catch {
        guard error.code == EEXIST else { throw error }
      }
    }
    throw SystemError(call: .rename, code: EEXIST, subject: target.path + "/" + name)
  }

  /// Takes a delivered artifact out of the queue and deletes it. On return it is out for good; files that could not be
  /// deleted are left to the next recovery. Once more has no effect.
  package func remove(_ sequence: UInt64) throws(CommitError) {
    let reply = Reply<Result<Void, CommitError>>()
    takeOut([sequence]) { reply.set($0) }
    try reply.wait().get()
    deleteTakenOut(sequence)
  }

  /// The first half of `remove`, for several at once: calls `then` when all are out for good, or when one can't be; on the
  /// committer's thread, so it must be short.
  package func takeOut(_ sequences: [UInt64], then: @escaping @Sendable (Result<Void, CommitError>) -> Void) {
    let sizes = sequences.map { sizeIfMeasured($0) }
    let queue: Directory
    do throws(SystemError) { queue = try self.queue } catch { return then(.failure(.stepFailed(error))) }
    // Left by a deletion that was cut short; the new one needs the name.
    for sequence in sequences { try? queue.removeTree(Self.trashName(sequence)) }
    let request = CommitRequest(parents: [queue]) { [self] () throws(SystemError) in
      try books.withLock { (books: inout QueueBooks) throws(SystemError) in
        for (sequence, size) in zip(sequences, sizes) {
          do throws(SystemError) {
            try queue.rename(SequenceName.name(sequence), to: queue, as: Self.trashName(sequence), exclusive: true)
            books.departed(sequence, size)
          } catch {
            guard error.code == ENOENT else { throw error }
          }
        }
        return 0
      }
    }
    committer.commit(request) { then($0.map { _ in () }) }
  }

  /// The second half: deletes what was taken out.
  package func deleteTakenOut(_ sequence: UInt64) { try? queue.removeTree(Self.trashName(sequence)) }

  private static func trashName(_ sequence: UInt64) -> String {
    SequenceName.trashPrefix + SequenceName.name(sequence)
  }
}
