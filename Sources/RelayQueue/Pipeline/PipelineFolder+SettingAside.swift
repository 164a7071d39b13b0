// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

extension PipelineFolder {
  /// Moves an artifact to `refused/` with its reason; durable when this returns. Once more has no effect.
  ///
  /// Call this first and mark the sequence as completed then: a recovery that finds it completed but still in the queue
  /// takes it for damage.
  package func setAside(_ sequence: UInt64, reason: SetAsideReason) throws(SystemError) {
    try move(sequence, to: "refused", reason)
  }

  /// Moves an artifact to `corrupt/`; durable when this returns. Once more has no effect.
  package func moveToCorrupt(_ sequence: UInt64, reason: String) throws(SystemError) {
    try move(sequence, to: "corrupt", SetAsideReason(verdict: "damaged", message: reason))
  }

  private func move(_ sequence: UInt64, to place: String, _ reason: SetAsideReason) throws(SystemError) {
    let name = SequenceName.name(sequence)
    let (queue, target) = (try queue, try subfolder(place))
    let size = sizeIfMeasured(sequence)
    try books.withLock { (books: inout QueueBooks) throws(SystemError) in
      if let entry = try queue.status(of: name) {
        // The reason is a help; an artifact whose folder takes no more files (full disk, damage) is moved without it.
        if entry.kind == .folder {
          try? queue.folder(name).replace(SetAsideReason.fileName, with: reason.bytes())
        }
        try Self.rename(name, from: queue, toFreeNameIn: target)
        books.departed(sequence, size)
      } else if try target.status(of: name) == nil {
        throw SystemError(call: .rename, code: ENOENT, subject: queuePath + "/" + name)
      }
      // The new place first: after a crash in between it is at least in one.
      try target.sync()
      try queue.sync()
    }
  }

  /// The name may be taken, by what lay under the same number before the marks were lost.
  private static func rename(
    _ name: String, from queue: Directory, toFreeNameIn target: Directory
  ) throws(SystemError) {
    for attempt in 1...1000 {
      do {
        return try queue.rename(name, to: target, as: attempt == 1 ? name : "\(name)-\(attempt)", exclusive: true)
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
    takeOut(sequence) { reply.set($0) }
    try reply.wait().get()
    deleteTakenOut(sequence)
  }

  /// The first half of `remove`: calls `then` when the artifact is out for good, or can't be; on the committer's thread, so
  /// it must be short.
  package func takeOut(_ sequence: UInt64, then: @escaping @Sendable (Result<Void, CommitError>) -> Void) {
    let trash = Self.trashName(sequence)
    let size = sizeIfMeasured(sequence)
    let queue: Directory
    do throws(SystemError) { queue = try self.queue } catch { return then(.failure(.stepFailed(error))) }
    // Left by a deletion that was cut short; the new one needs the name.
    try? queue.removeTree(trash)
    let request = CommitRequest(parents: [queue]) { [self] () throws(SystemError) in
      try books.withLock { (books: inout QueueBooks) throws(SystemError) in
        do throws(SystemError) {
          try queue.rename(SequenceName.name(sequence), to: queue, as: trash, exclusive: true)
          books.departed(sequence, size)
        } catch {
          guard error.code == ENOENT else { throw error }
        }
        return sequence
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
