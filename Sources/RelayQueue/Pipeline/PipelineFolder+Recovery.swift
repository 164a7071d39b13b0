// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// Something that recovery came across.
package enum RecoveryProblem: Equatable, Sendable {
  /// Not ours: left alone.
  case unknownName(path: String)
  /// An entry with a sequence that is no folder: left alone.
  case notAFolder(path: String)
  case movedToCorrupt(sequence: UInt64, reason: String)
  /// Left as it is; the next recovery tries again.
  case failed(path: String, SystemError)

  package var message: String {
    switch self {
    case .unknownName(let path): "\(path) is nothing that this program made; it was left alone"
    case .notAFolder(let path): "\(path) is no folder; it was left alone"
    case .movedToCorrupt(let sequence, let reason): "artifact \(sequence) was moved to corrupt/: \(reason)"
    case .failed(let path, let error): "\(path) was left as it is: \(error.message)"
    }
  }
}

package struct Recovery: Equatable, Sendable {
  /// What is to be delivered, in order.
  package var sequences: [UInt64] = []
  package var problems: [RecoveryProblem] = []
  /// Done with, but still in the queue folder, because they could not be removed.
  package var remaining: Set<UInt64> = []
  /// Artifacts that are being written now.
  package var inStaging = 0

  package init(sequences: [UInt64] = [], problems: [RecoveryProblem] = [], inStaging: Int = 0) {
    self.sequences = sequences
    self.problems = problems
    self.inStaging = inStaging
  }
}

extension PipelineFolder {
  /// Brings the queue to a state without halves: abandoned staging and trash are removed, what the marks say was
  /// delivered leaves. Reads names only, and few manifests. Can be called at any time, and be killed at any point.
  ///
  /// Accepted bytes are never deleted: where marks and queue disagree, the artifact goes to `corrupt/`.
  package func recover() throws(SystemError) -> Recovery {
    let queue = try queue
    // What is seen now may only be in memory, moved by a process that was killed: what is built on it must not outlast it.
    try queue.sync()
    for name in ["refused", "corrupt"] { try subfolder(name).sync() }
    try loadBooks()
    var recovery = Recovery()
    var entries: [UInt64] = []
    for raw in try queue.rawNames() {
      guard let name = SequenceName.text(raw) else {
        recovery.problems.append(.unknownName(path: path(raw)))
        continue
      }
      if name.hasPrefix(SequenceName.stagingPrefix) {
        if removeIfAbandoned(name, &recovery) { recovery.inStaging += 1 }
      } else if name.hasPrefix(SequenceName.trashPrefix) {
        do throws(SystemError) { try removeTrash(name, in: queue) } catch {
          recovery.problems.append(.failed(path: queuePath + "/" + name, error))
        }
      } else if let sequence = SequenceName.parse(name) {
        do throws(SystemError) {
          // One that is gone again left through somebody else in the meantime.
          guard let status = try queue.status(of: name) else { continue }
          if status.kind == .folder {
            entries.append(sequence)
          } else {
            recovery.problems.append(.notAFolder(path: queuePath + "/" + name))
          }
        } catch {
          // It has its turn all the same, else what is behind it would leave first and the marks would have it behind them.
          entries.append(sequence)
          recovery.problems.append(.failed(path: queuePath + "/" + name, error))
        }
      } else {
        recovery.problems.append(.unknownName(path: queuePath + "/" + name))
      }
    }
    finishTrashOfRefused(&recovery)
    entries.sort()
    let record = marks.current
    let isOld = entries.prefix { $0 <= record.completedThrough }
    for sequence in isOld where !settle(sequence, record, &recovery) { recovery.remaining.insert(sequence) }
    recovery.sequences = Array(entries.dropFirst(isOld.count))
    // Only what is next can have been bundled just now.
    if let next = recovery.sequences.first { (try? openArtifact(next))?.clearUnfinishedBundle() }
    return recovery
  }

  private func path(_ raw: [CChar]) -> String {
    queuePath + "/" + String(decoding: raw.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// True when its writer lives. The lock is held until the folder is gone.
  private func removeIfAbandoned(_ name: String, _ recovery: inout Recovery) -> Bool {
    do throws(SystemError) {
      guard let status = try queue.status(of: name) else { return false }
      guard status.kind == .folder else {
        recovery.problems.append(.unknownName(path: queuePath + "/" + name))
        return false
      }
      let folder = try queue.folder(name)
      guard try folder.descriptor.lock() else { return true }
      // Between the look and the lock its writer may have committed it and let it go: then the name means nothing here.
      guard try queue.status(of: name)?.inode == folder.descriptor.status().inode else { return false }
      try queue.removeTree(name)
    } catch {
      if error.code != ENOENT { recovery.problems.append(.failed(path: queuePath + "/" + name, error)) }
    }
    return false
  }

  private func removeTrash(_ name: String, in folder: Directory) throws(SystemError) {
    do {
      try folder.removeTree(name)
    } catch {
      // Whoever moved it there is deleting it, too.
      guard error.code == ENOENT else { throw error }
    }
  }

  private func finishTrashOfRefused(_ recovery: inout Recovery) {
    do throws(SystemError) {
      let refused = try subfolder("refused")
      for name in try refused.names() where name.hasPrefix(SequenceName.trashPrefix) {
        try removeTrash(name, in: refused)
      }
    } catch {
      recovery.problems.append(.failed(path: folder.path + "/refused", error))
    }
  }

  /// An entry that the marks have behind them: removed when they name it as delivered, else set aside.
  /// Whether it has left the queue.
  private func settle(_ sequence: UInt64, _ record: MarkRecord, _ recovery: inout Recovery) -> Bool {
    let name = SequenceName.name(sequence)
    var reason = "the marks say it was done with, but not that it was delivered"
    if let pending = record.pendingRemovals.first(where: { $0.sequence == sequence }) {
      do throws(ArtifactDamage) {
        let folder: Directory
        do throws(SystemError) { folder = try queue.folder(name) } catch { throw .unreadable(error) }
        if try Self.readManifest(in: folder).artifactID == pending.artifactID {
          do throws(CommitError) { try remove(sequence) } catch {
            recovery.problems.append(.failed(path: queuePath + "/" + name, error.cause))
            return false
          }
          return true
        }
        reason = "the marks say that another artifact was delivered under this number"
      } catch {
        if case .unreadable(let cause) = error {
          if cause.code == ENOENT { return true }
          recovery.problems.append(.failed(path: queuePath + "/" + name, cause))
          return false
        }
        reason = "the marks say it was delivered, but \(error.message)"
      }
    }
    do throws(SystemError) {
      try moveToCorrupt(sequence, reason: reason)
      recovery.problems.append(.movedToCorrupt(sequence: sequence, reason: reason))
      return true
    } catch  where error.code == ENOENT {
      return true
    } catch {
      recovery.problems.append(.failed(path: queuePath + "/" + name, error))
      return false
    }
  }
}
