// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// An artifact that was set aside and waits for a person.
package struct RefusedArtifact: Equatable, Sendable {
  /// The folder's name in `refused/`: the sequence, with `-2` behind it where that was taken.
  package var name: String
  package var sequence: UInt64
  /// nil when it can't be read.
  package var reason: SetAsideReason?
  /// nil when the manifest can't be read.
  package var artifactID: Identifier?
  /// The true names of its parts, as far as the manifest can be read.
  package var files: [String] = []
  package var createdAt: WallTime?
  package var parts: Int
  /// Of all parts as they are stored.
  package var bytes: Int64
}

/// Why an artifact was not put back into the queue.
package enum ResendError: Error, Equatable, Sendable {
  case damaged(ArtifactDamage)
  case commit(CommitError)
  case system(SystemError)

  package var message: String {
    switch self {
    case .damaged(let damage): "it can't be sent again: \(damage.message)"
    case .commit(let error): error.message
    case .system(let error): error.message
    }
  }
}

extension PipelineFolder {
  /// What lies in `refused/`, in order of the sequence.
  package func refused() throws(SystemError) -> [RefusedArtifact] {
    let refused = try subfolder("refused")
    var found: [RefusedArtifact] = []
    for name in try refused.names() {
      guard let sequence = Self.refusedSequence(name), try refused.status(of: name)?.kind == .folder else { continue }
      var entry: RefusedArtifact
      let folder: Directory
      do throws(SystemError) {
        let size = try Self.size(of: name, in: refused)
        entry = RefusedArtifact(name: name, sequence: sequence, parts: size.parts, bytes: size.bytes)
        folder = try refused.folder(name)
      } catch {
        // Sent again or deleted meanwhile.
        guard error.isMissing else { throw error }
        continue
      }
      // Content that can't be read now only leaves a gap in the list.
      if let bytes = try? folder.content(of: SetAsideReason.fileName, limit: 1 << 20) {
        entry.reason = SetAsideReason(bytes)
      }
      if let manifest = try? Self.readManifest(in: folder) {
        entry.artifactID = manifest.artifactID
        entry.createdAt = manifest.createdAt
        entry.files = manifest.parts.map(\.name)
      }
      found.append(entry)
    }
    return found.sorted { ($0.sequence, $0.name) < ($1.sequence, $1.name) }
  }

  /// How many artifacts lie in `refused/`; names are counted, nothing is opened.
  package func refusedCount() throws(SystemError) -> Int { try count(in: "refused") }

  /// How many lie in `corrupt/`.
  package func corruptCount() throws(SystemError) -> Int { try count(in: "corrupt") }

  private func count(in name: String) throws(SystemError) -> Int {
    try subfolder(name).names().count { Self.refusedSequence($0) != nil }
  }

  /// Bytes of all parts in `refused/`, for `delivery.maxRefused`.
  package func refusedBytes() throws(SystemError) -> Int64 {
    let refused = try subfolder("refused")
    var sum: Int64 = 0
    for name in try refused.names() where Self.refusedSequence(name) != nil {
      guard try refused.status(of: name)?.kind == .folder else { continue }
      do throws(SystemError) {
        sum = sum.addingReportingOverflow(try Self.size(of: name, in: refused).bytes).partialValue
      } catch {
        // Sent again or deleted meanwhile.
        guard error.isMissing else { throw error }
      }
    }
    return sum
  }

  /// Puts a refused artifact back at the end of the queue, with its identities; durable when this returns.
  package func resend(_ name: String) throws(ResendError) -> CommittedArtifact {
    let (queue, refused): (Directory, Directory)
    let artifact: QueuedArtifact
    do throws(SystemError) { (queue, refused) = (try self.queue, try subfolder("refused")) } catch {
      throw .system(error)
    }
    guard let old = Self.refusedSequence(name) else { throw .damaged(.missing) }
    do { artifact = try openArtifact(old, named: name, in: "refused") } catch { throw .damaged(error) }
    let size = QueueBooks.Size(parts: artifact.manifest.parts.count, bytes: artifact.manifest.storedBytes)
    let request = CommitRequest(parents: [queue, refused]) { [self] () throws(SystemError) in
      try publish(name, in: refused, size: size)
    }
    let sequence: UInt64
    do { sequence = try committer.commit(request) } catch { throw .commit(error) }
    settle(sequence)
    try? queue.folder(SequenceName.name(sequence)).remove(SetAsideReason.fileName)
    return CommittedArtifact(sequence: sequence, artifactID: artifact.manifest.artifactID)
  }

  /// Deletes a refused artifact, because a person said so. Files that could not be deleted are left to recovery.
  package func deleteRefused(_ name: String) throws(SystemError) {
    let refused = try subfolder("refused")
    guard Self.refusedSequence(name) != nil else {
      throw SystemError(call: .unlink, code: ENOENT, subject: refused.path + "/" + name)
    }
    let trash = SequenceName.trashPrefix + name
    try? refused.removeTree(trash)
    try refused.rename(name, to: refused, as: trash, exclusive: true)
    try refused.sync()
    try? refused.removeTree(trash)
  }

  private static func refusedSequence(_ name: String) -> UInt64? {
    name.first?.isNumber == true ? SequenceName.mentioned(in: name) : nil
  }

  /// The sequences that stand in the queue now, in order; nothing is checked or changed.
  package func sequences() throws(SystemError) -> [UInt64] {
    try queue.rawNames().compactMap { SequenceName.text($0).flatMap { SequenceName.parse($0) } }.sorted()
  }
}
