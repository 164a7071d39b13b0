// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// Why files were not taken into a queue; but for `unknown` nothing of them is left.
package enum QueueError: Error, Equatable, Sendable {
  /// The pipeline's backlog has reached its limit (`delivery.maxQueued`).
  case pipelineFull(pipeline: String, limits: QueueLimits)
  /// The disk has no room.
  case diskFull(path: String)
  /// There is room, and with these bytes more the reserve would be touched.
  case reserve(path: String, limits: QueueLimits, left: DiskRoom, wanted: UInt64)
  case tooManyParts(limit: Int)
  /// The settings rendered for the parts are too large together.
  case manifestTooLarge(limit: Int)
  case noParts
  /// Somebody has put a folder with the largest number there is into the pipeline's folder.
  case noNumberLeft(pipeline: String)
  /// Nobody waits for it any more.
  case unwanted
  /// The source was written to while it was copied.
  case sourceChanged(name: String)
  /// The source has sent nothing for so long.
  case sourceStalled(name: String, milliseconds: Int64)
  case source(name: String, SystemError)
  /// It was committed, given up or failed before.
  case closed
  case notCommitted(SystemError)
  /// Perhaps in the queue: hand it in again with the same artifact id, and the receiver can recognise a repeat.
  case unknown(artifactID: Identifier, SystemError)
  case system(SystemError)
  case hashUnavailable

  package var message: String {
    switch self {
    case .pipelineFull(let pipeline, let limits):
      "the queue of \(pipeline) is full (at most \(limits.artifacts) artifacts and \(limits.bytes) bytes); "
        + "let it deliver first or raise delivery.maxQueued"
    case .diskFull(let path): "the disk of \(path) is full; free some space, nothing was taken"
    case .reserve(let path, let limits, let left, let wanted): left.words(path, limits, wanted)
    case .tooManyParts(let limit): "an artifact has at most \(limit) files; hand in several"
    case .manifestTooLarge(let limit):
      "names and rendered settings of the files are larger than \(limit) bytes together; hand in several artifacts"
    case .noParts: "an artifact needs a file"
    case .noNumberLeft(let path):
      "\(SequenceName.largest), the last number there is, stands in queue, refused, corrupt or ready of \(path), where this "
        + "program didn't put it; move it away and start the daemon again"
    case .unwanted: "whoever handed it in has gone away; nothing was taken"
    case .sourceChanged(let name): "\(name) was changed while it was copied; try again when it is complete"
    case .sourceStalled(let name, let milliseconds): "\(name) has sent nothing for \(milliseconds / 1000) s"
    case .source(let name, let error): "\(name) can't be read: \(error.message)"
    case .closed: "this artifact was committed or given up before"
    case .notCommitted(let error): "not taken, because the disk did not confirm it: \(error.message)"
    case .unknown(let id, let error):
      "artifact \(id) may or may not have been taken, the disk did not confirm it: \(error.message)"
    case .system(let error): error.message
    case .hashUnavailable: ArchiveError.hashUnavailable.message
    }
  }

  init(_ error: SystemError) {
    self = error.isOutOfSpace ? .diskFull(path: error.subject) : .system(error)
  }

  init(_ error: ArchiveError) {
    switch error {
    case .system(let error): self.init(error)
    case .hashUnavailable: self = .hashUnavailable
    case .library: self = .system(SystemError(call: .write, code: ENOMEM, subject: error.message))
    }
  }

  init(_ error: CommitError, artifactID: Identifier) {
    switch error {
    case .stepFailed(let error) where error.code == SequenceName.noneLeft:
      self = .noNumberLeft(pipeline: error.subject)
    case .notSynced(let error), .stepFailed(let error):
      self = error.isOutOfSpace ? .diskFull(path: error.subject) : .notCommitted(error)
    case .unknown(let error): self = .unknown(artifactID: artifactID, error)
    }
  }
}
