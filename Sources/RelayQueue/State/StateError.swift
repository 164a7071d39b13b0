// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Why the state folder, or a file of it, can't be used.
package enum StateError: Error, Equatable, Sendable {
  /// Another process holds the lock; its number as it wrote it there.
  case inUse(path: String, pid: Int64?)
  /// Written by a newer version of the program.
  case newerFormat(path: String, found: UInt64, known: UInt64)
  /// Written by an older version, and who opens it must not bring it up.
  case olderFormat(path: String, found: UInt64, known: UInt64)
  /// A restore was cut short here.
  case unfinishedRestore(path: String)
  /// The file `format` holds something else than a number.
  case unreadableFormat(path: String)
  /// `format` is missing, but the folder holds something.
  case notAStateFolder(path: String, holds: String)
  case badPipelineID(String)
  /// A file could not be read earlier, so it is not saved over.
  case notRead(path: String)
  case notCommitted(path: String, CommitError)
  case system(SystemError)

  package var message: String {
    switch self {
    case .inUse(let path, let pid):
      "\(path) is in use by \(pid.map { "process \($0)" } ?? "another process"); stop it first, or talk to it"
    case .newerFormat(let path, let found, let known):
      "\(path) was written by a newer version (format \(found), this program knows \(known)); use the newer program"
    case .olderFormat(let path, let found, let known):
      "\(path) was written by an older version (format \(found), this program writes \(known)); start the daemon once, "
        + "which brings it up, or use the older program"
    case .unfinishedRestore(let path):
      "a restore into \(path) was cut short; run `relay-host restore` with the same backup again"
    case .unreadableFormat(let path):
      "\(path)/format holds no version number; put it back from a backup, nothing was changed"
    case .notAStateFolder(let path, let holds):
      holds == "pipelines"
        ? "\(path) holds pipelines but has lost its file named format, which holds the number of the layout; put it back from a "
          + "backup, or with `echo 1 >\(path)/format` if version 0.1 wrote the folder"
        : "\(path) has no file named format but holds \(holds), so it is no state folder; choose an empty one"
    case .badPipelineID(let id):
      "\(id) is no pipeline id: lower-case letters, digits and hyphens, at most 63, beginning with a letter or digit"
    case .notRead(let path): "\(path) could not be read, so it is not written either; make it readable"
    case .notCommitted(let path, let error): "\(path): \(error.message)"
    case .system(let error): error.message
    }
  }
}

/// Runs a kernel call and says what failed as a `StateError`.
func asState<T>(_ body: () throws(SystemError) -> T) throws(StateError) -> T {
  do { return try body() } catch { throw .system(error) }
}
