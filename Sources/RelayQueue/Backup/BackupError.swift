// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// Why a backup was not written, is none, or was not put back.
package enum BackupError: Error, Equatable, Sendable {
  // The folder that is written to.
  case notEmpty(path: String, holds: String)
  /// It holds a backup that is whole.
  case finished(path: String)
  /// Somebody else is writing a backup there.
  case busy(path: String)
  case destination(SystemError)

  // What is backed up.
  case source(SystemError)
  /// So much came and went that no moment could be caught.
  case restless(pipeline: String)
  case state(StateError)
  /// Whoever asked for it has gone, or the program ends.
  case stopped

  // What is read back.
  case notABackup(path: String)
  case newerBackup(path: String, found: Int64, known: Int64)
  case newerFormat(path: String, found: UInt64, known: UInt64)
  case damaged(file: String, reason: String)
  case unreadable(SystemError)

  // The state folder that is written to.
  case stateNotEmpty(path: String, holds: String)
  case restoring(SystemError)

  case hashUnavailable

  package var message: String {
    switch self {
    case .notEmpty(let path, let holds): "\(path) holds \(holds), and a backup needs an empty folder"
    case .finished(let path): "\(path) holds a backup already"
    case .busy(let path): "a backup is being written to \(path) right now"
    case .destination(let error):
      error.isOutOfSpace
        ? "the disk of the backup is full: \(error.message)" : "the backup can't be written: \(error.message)"
    case .source(let error): "a file can't be read, so the backup would not be whole: \(error.message)"
    case .restless(let pipeline):
      "so much is coming into pipeline \(pipeline) that no moment for the backup could be caught"
    case .state(let error): error.message
    case .stopped: "the backup was stopped before its end"
    case .notABackup(let path):
      "\(path) has no \(BackupManifest.fileName), so it is no backup, or one that was cut short"
    case .newerBackup(let path, let found, let known):
      "\(path) was written by a newer version (backup \(found), this program knows \(known))"
    case .newerFormat(let path, let found, let known):
      "\(path) holds a state folder of a newer version (format \(found), this program knows \(known))"
    case .damaged(let file, let reason): "file \(file) of the backup is damaged: \(reason)"
    case .unreadable(let error): "the backup can't be read: \(error.message)"
    case .stateNotEmpty(let path, let holds): "\(path) holds \(holds); a backup is put back into an empty folder only"
    case .restoring(let error):
      error.isOutOfSpace
        ? "the disk of the state folder is full: \(error.message)"
        : "the state folder can't be written: \(error.message)"
    case .hashUnavailable: ArchiveError.hashUnavailable.message
    }
  }
}

/// Run kernel calls and say on which side they failed.
enum BackupSide {
  static func destination<T>(_ body: () throws(SystemError) -> T) throws(BackupError) -> T {
    do { return try body() } catch { throw .destination(error) }
  }

  static func source<T>(_ body: () throws(SystemError) -> T) throws(BackupError) -> T {
    do { return try body() } catch { throw .source(error) }
  }

  static func reading<T>(_ body: () throws(SystemError) -> T) throws(BackupError) -> T {
    do { return try body() } catch { throw .unreadable(error) }
  }

  static func restoring<T>(_ body: () throws(SystemError) -> T) throws(BackupError) -> T {
    do { return try body() } catch { throw .restoring(error) }
  }

  static func hashing<T>(_ body: () throws(ArchiveError) -> T) throws(BackupError) -> T {
    do { return try body() } catch { throw .hashUnavailable }
  }
}
