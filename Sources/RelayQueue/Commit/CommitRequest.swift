// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// One change that must survive a power cut: what is put on the disk first, then one step, then where the step shows.
package struct CommitRequest: Sendable {
  /// Files that grew: data and status are synced.
  package var files: [Descriptor]
  /// Files that were written in place: only their data is synced.
  package var dataOnly: [Descriptor]
  /// Folders that must hold their names before the step.
  package var folders: [Directory]
  /// Done once all of the above is on the disk, usually a rename; runs on the committer's thread, so it must be short.
  /// What it returns is the commit's result.
  package var step: (@Sendable () throws(SystemError) -> UInt64)?
  /// Folders that the step changed.
  package var parents: [Directory]

  package init(
    files: [Descriptor] = [], dataOnly: [Descriptor] = [], folders: [Directory] = [], parents: [Directory] = [],
    step: (@Sendable () throws(SystemError) -> UInt64)? = nil
  ) {
    self.files = files
    self.dataOnly = dataOnly
    self.folders = folders
    self.parents = parents
    self.step = step
  }

  var syncs: Int { files.count + dataOnly.count + folders.count }
}

/// Why a change can't be relied on.
package enum CommitError: Error, Equatable, Sendable {
  /// The step was not done. What was written can't be trusted, not even after a second sync that succeeds.
  case notSynced(SystemError)
  /// Everything was on the disk, but the step itself failed: nothing changed.
  case stepFailed(SystemError)
  /// The step was done, but whether it survives a power cut is unknown: only a look at the disk after a restart tells.
  case unknown(SystemError)

  package var cause: SystemError {
    switch self {
    case .notSynced(let error), .stepFailed(let error), .unknown(let error): error
    }
  }

  package var message: String {
    switch self {
    case .notSynced(let error): "not kept, because the disk did not confirm it: \(error.message)"
    case .stepFailed(let error): "not kept: \(error.message)"
    case .unknown(let error): "perhaps not kept, because the disk did not confirm it: \(error.message)"
    }
  }
}
