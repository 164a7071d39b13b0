// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem

extension InboxLook {
  enum Outcome {
    case taken
    case gone
    /// Try again after so many milliseconds.
    case later(Int64)
    case failed(FileTrouble)
  }

  mutating func take(
    _ file: InboxFile, quiet: Int64, from folder: Directory, leasesCount: Bool
  ) throws(InboxProblem) -> Outcome {
    let source: Descriptor
    do throws(SystemError) {
      source = try folder.openFile(raw: file.name)
    } catch {
      return try outcome(ofOpening: error, file)
    }
    var hasLease = false
    if leasesCount {
      // An error: another user's file, or a file system without leases.
      if let granted = try? source.takeReadLease() {
        guard granted else {
          say(.heldOpen, file)
          return .later(options.quiet)
        }
        hasLease = true
      }
    }
    defer { if hasLease { source.releaseLease() } }
    if !hasLease && quiet < options.quietWithoutLease { return .later(options.quietWithoutLease - quiet) }
    let taking = Taking(file: file, source: source, hasLease: hasLease, folder: folder)
    guard taking.isUntouched else { return .later(options.quiet) }
    return try copyAndCommit(taking)
  }

  private mutating func outcome(ofOpening error: SystemError, _ file: InboxFile) throws(InboxProblem) -> Outcome {
    switch error.code {
    case ENOENT, ELOOP, ENXIO, EINVAL: return .gone
    // Somebody holds a write lease on it.
    case EWOULDBLOCK:
      say(.heldOpen, file)
      return .later(options.quiet)
    case _ where error.isExhaustion: throw .folder(error)
    default: return .failed(.unreadable(error))
    }
  }

  private mutating func copyAndCommit(_ taking: Taking) throws(InboxProblem) -> Outcome {
    let staged: StagedArtifact
    do throws(QueueError) {
      staged = try stage(taking.file)
      try staged.addPart(name: taking.file.name, from: taking.source, encode: options.encode)
    } catch {
      switch error {
      case .sourceChanged: return .later(options.quiet)
      case .source(_, let error): return .failed(.unreadable(error))
      default: throw .queue(error)
      }
    }
    defer { staged.abort() }
    do throws(InboxRefusal) {
      try options.finish(staged)
    } catch {
      switch error {
      case .file(let reason): return .failed(.refused(reason))
      case .queue(let error): throw .queue(error)
      }
    }
    guard taking.isUntouched else { return .later(options.quiet) }
    let note = TakingNote(taking.file, as: staged.artifactID)
    do { try note.write(in: options.pipeline.folder) } catch { throw .note(error) }
    return try moveAndCommit(taking, note, staged)
  }

  /// Under the identifier it had before a crash, if it is the file of that time.
  private func stage(_ file: InboxFile) throws(QueueError) -> StagedArtifact {
    guard let old = memory.perhapsTaken, old.name == file.name, old.isOf(file.status) else {
      return try options.stage(nil)
    }
    do throws(QueueError) {
      return try options.stage(old.artifactID)
    } catch {
      // What was staged under it then was not cleared yet.
      if case .system(let cause) = error, cause.code == EEXIST { return try options.stage(nil) }
      throw error
    }
  }

  /// The dot name comes before the commit: it proves that the file can be removed, and from then on nobody opens the file
  /// by its name or puts another one in its place.
  private mutating func moveAndCommit(
    _ taking: Taking, _ note: TakingNote, _ staged: StagedArtifact
  ) throws(InboxProblem) -> Outcome {
    do throws(SystemError) {
      try taking.folder.rename(raw: note.name, as: note.takenName)
    } catch {
      switch error.code {
      case ENOENT: return .gone
      case EACCES, EROFS: throw .notWritable(error)
      default: return .failed(.cannotMove(error))
      }
    }
    memory.unfinished = UnfinishedTaking(note: note, fate: .notCommitted)
    guard taking.isUntouched(movedAs: note) else {
      try settleUnfinished(in: taking.folder)
      return .later(options.quiet)
    }
    let committed: CommittedArtifact
    do throws(QueueError) {
      committed = try staged.commit()
    } catch {
      if case .unknown = error {
        memory.unfinished?.fate = .unsure(error)
        throw .unsure(error)
      }
      try settleUnfinished(in: taking.folder)
      throw .queue(error)
    }
    memory.unfinished?.fate = .committed
    memory.perhapsTaken = nil
    log.log(
      LogEntry(
        .info, "\(taking.file.displayName) taken from the inbox",
        ["pipeline": options.pipeline.id, "artifact": "\(committed.artifactID)"]))
    defer { options.committed(committed) }
    try removeTaken(note, in: taking.folder, mayBeHeldOpen: !taking.leaseStands)
    return .taken
  }
}

/// A file on its way, open.
struct Taking {
  let file: InboxFile
  let source: Descriptor
  let hasLease: Bool
  let folder: Directory

  /// Whether nobody tried to open it for writing since the lease was taken.
  var leaseStands: Bool { !hasLease || source.holdsReadLease }

  /// Whether nobody wrote to it, or began to, since it was seen.
  var isUntouched: Bool { leaseStands && (try? source.status()) == file.status }

  /// The same after it got its dot name, and whether that name is this file's: another one may have come in its place.
  func isUntouched(movedAs note: TakingNote) -> Bool {
    guard leaseStands, let status = try? source.status(), note.isOf(status),
      let named = try? folder.status(ofRaw: note.takenName)
    else { return false }
    return note.isOf(named) && named.device == status.device
  }
}
