// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// Why nothing is taken from a whole inbox at the moment.
package enum InboxProblem: Error, Equatable, Sendable {
  /// The folder isn't there: perhaps a disk that is not mounted. It is never made.
  case folderMissing(String)
  case folder(SystemError)
  /// The path leads to where nothing may be taken from.
  case forbidden(String, String)
  /// Files can't be removed from it, so taking them would take them again and again.
  case notWritable(SystemError)
  case queue(QueueError)
  /// What is being taken could not be noted in the pipeline's folder.
  case note(SystemError)
  /// A file was taken but can't be removed; until it can, nothing else is taken.
  case cannotRemove(file: String, SystemError)
  /// A file could not be given its name back.
  case cannotPutBack(file: String, SystemError)
  /// Whether a file was taken is known only after a restart.
  case unsure(QueueError)
  /// Whether a file was taken before the last end of the program can't be told yet.
  case unclear(file: String, ArtifactDamage)

  package var message: String {
    switch self {
    case .folderMissing(let path): "the inbox \(path) is not there; mount its disk, make it or mend extract.directory"
    case .forbidden(let path, let reason):
      "nothing is taken from the inbox \(path): \(reason); remove the link or mount that leads there, or mend extract.directory"
    case .folder(let error): "the inbox can't be looked through: \(error.message)"
    case .notWritable(let error):
      "files can't be removed from the inbox, so none is taken: \(error.message); allow this program to write there"
    case .queue(let error): "files stay in the inbox: \(error.message)"
    case .note(let error): "files stay in the inbox, because taking them could not be noted: \(error.message)"
    case .cannotRemove(let file, let error):
      "\(file) was taken but can't be removed from the inbox, nothing else is taken until it is: \(error.message)"
    case .cannotPutBack(let file, let error):
      "\(file) could not be given its name back in the inbox, this is tried again: \(error.message)"
    case .unsure(let error): "\(error.message); restart relay-host when the disk is mended, the file is still there"
    case .unclear(let file, let damage):
      "whether \(file) was taken before the restart can't be told, this is tried again: \(damage.message)"
    }
  }
}

extension InboxProblem {
  /// The same for problems that need saying only once: without the names and identifiers that differ from look to look.
  var kind: String {
    switch self {
    case .folderMissing: "missing"
    case .folder(let error): "folder \(error.code)"
    case .forbidden: "forbidden"
    case .notWritable(let error): "not writable \(error.code)"
    case .queue(.pipelineFull): "pipeline full"
    case .queue(.diskFull), .queue(.reserve): "disk full"
    case .queue(.notCommitted(let error)), .queue(.system(let error)): "queue \(error.call.rawValue) \(error.code)"
    case .queue(let error): "queue \(error.message)"
    case .note(let error): "note \(error.code)"
    case .cannotRemove(let file, let error): "remove \(file) \(error.code)"
    case .cannotPutBack(let file, let error): "put back \(file) \(error.code)"
    case .unsure: "unsure"
    case .unclear(let file, _): "unclear \(file)"
    }
  }
}

/// Why one file stays in the inbox while others go on.
enum FileTrouble: Error, Equatable, Sendable {
  case unreadable(SystemError)
  /// A link, FIFO, socket or device.
  case notAFile
  case heldOpen
  /// This user may not remove it.
  case cannotMove(SystemError)
  case refused(String)
  case leftover

  var message: String {
    switch self {
    case .unreadable(let error): "can't be read, tried again later: \(error.message)"
    case .notAFile: "left alone in the inbox: it is no regular file (a link, FIFO, socket or device)"
    case .heldOpen: "not taken yet: a program has it open for writing"
    case .cannotMove(let error): "not taken, because it could not be removed from the inbox: \(error.message)"
    case .refused(let reason): "not taken, tried again later: \(reason)"
    case .leftover:
      "left alone in the inbox: its name begins as those of files that are being taken, and says nothing; rename it to have it taken"
    }
  }

  var level: LogLevel { self == .heldOpen ? .info : .warning }
}

/// Why a staged file is not committed.
package enum InboxRefusal: Error, Equatable, Sendable {
  /// This one can't be; others go on.
  case file(String)
  /// None can be now.
  case queue(QueueError)
}
