// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// What a backup must know of inboxes: which names wait, and which file is being taken at the moment.
package struct BackupInbox: Sendable {
  /// A file that has been copied into an artifact, which may or may not have been committed.
  package struct Taking: Sendable {
    package var artifactID: Identifier
    /// Its name in the folder now.
    package var file: [UInt8]
    /// The name it had, and would have again if it weren't taken.
    package var name: [UInt8]

    package init(artifactID: Identifier, file: [UInt8], name: [UInt8]) {
      self.artifactID = artifactID
      self.file = file
      self.name = name
    }
  }

  /// Whether a file of that name waits to be taken.
  package var waits: @Sendable ([UInt8]) -> Bool
  /// The file that is being taken, if there is one; called under the pipeline's lock.
  package var taking: @Sendable (PipelineFolder) throws(SystemError) -> Taking?

  package init(
    waits: @escaping @Sendable ([UInt8]) -> Bool = { $0.first != UInt8(ascii: ".") },
    taking: @escaping @Sendable (PipelineFolder) throws(SystemError) -> Taking? = { _ in nil }
  ) {
    self.waits = waits
    self.taking = taking
  }
}
