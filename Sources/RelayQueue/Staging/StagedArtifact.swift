// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem
import Synchronization

/// What is said of an artifact when it is handed in.
package struct ArtifactDescription: Sendable {
  /// nil makes a new one; the same again marks a repeat.
  package var artifactID: Identifier?
  package var createdAt: WallTime
  package var unit: DeliveryUnit
  /// What stands behind the @ of the Message-ID.
  package var mailDomain: String
  package var attributes: [Manifest.Attribute]

  package init(
    artifactID: Identifier? = nil, createdAt: WallTime = .now, unit: DeliveryUnit = .part,
    mailDomain: String = "relay-host.invalid", attributes: [Manifest.Attribute] = []
  ) {
    self.artifactID = artifactID
    self.createdAt = createdAt
    self.unit = unit
    self.mailDomain = mailDomain
    self.attributes = attributes
  }
}

/// Where the committer's thread leaves the sequence that it gave.
private final class PublishedSequence: Sendable {
  let value = Mutex<UInt64?>(nil)
}

/// What a commit gives back.
package struct CommittedArtifact: Equatable, Sendable {
  package var sequence: UInt64
  package var artifactID: Identifier

  package init(sequence: UInt64, artifactID: Identifier) {
    self.sequence = sequence
    self.artifactID = artifactID
  }
}

/// An artifact that is being written: a folder that is locked and no part of the queue yet.
///
/// It is removed when it is given up, when anything fails, and when the last reference goes. Calls block on the disk.
package final class StagedArtifact: Sendable {
  package let artifactID: Identifier
  package let pipeline: PipelineFolder
  /// Held for as long as this is staged, so that all who commit at a time have the same.
  private let queue: Directory
  private let limits: QueueLimits
  private let state: Mutex<State>

  private struct State {
    /// nil once committed, given up or failed. Open, it holds the lock.
    var folder: Directory?
    var manifest: Manifest
    /// One for all parts when the unit is the artifact.
    var sharedDeliveryID: Identifier?
    /// Files that are not on the disk yet, the latest.
    var unsynced: [Descriptor] = []
    var reservedBytes: Int64 = 0
    var uncheckedBytes: Int64 = 0
  }

  /// So many files wait, open, for their sync; then all of them are synced at once.
  private static let mostOpenFiles = 64
  /// The free space is asked for again after so many bytes.
  private static let spaceCheckInterval: Int64 = 8 << 20

  init(
    _ pipeline: PipelineFolder, _ limits: QueueLimits, _ description: ArtifactDescription
  ) throws(QueueError) {
    let id = description.artifactID ?? .timed(at: description.createdAt)
    self.pipeline = pipeline
    self.limits = limits
    artifactID = id
    do throws(SystemError) { queue = try pipeline.queue } catch { throw QueueError(error) }
    let folder = try StagingFolder.make(for: id, in: queue)
    state = Mutex(
      State(
        folder: folder,
        manifest: Manifest(
          artifactID: id, createdAt: description.createdAt, pipeline: pipeline.id,
          messageID: "<\(id)@\(description.mailDomain)>", boundary: "relay-\(id)", unit: description.unit,
          attributes: description.attributes, parts: [], bundle: nil),
        sharedDeliveryID: description.unit == .artifact ? .random() : nil))
  }

  deinit { abort() }

  /// What was staged so far.
  package var manifest: Manifest { state.withLock { $0.manifest } }

  /// Gives up: nothing is left. Without effect once committed.
  package func abort() { state.withLock { close(&$0, removing: true) } }

  private func close(_ state: inout State, removing: Bool) {
    guard state.folder != nil else { return }
    state.unsynced = []
    if removing {
      // What can't be removed now is removed by the next recovery.
      try? queue.removeTree(StagingFolder.name(artifactID))
    }
    state.folder = nil
    pipeline.books.withLock { $0.release(artifacts: 1, bytes: state.reservedBytes) }
  }

  /// Runs a step; an error gives up the whole artifact.
  private func step<T: Sendable>(
    _ body: (inout State, Directory) throws(QueueError) -> T
  ) throws(QueueError) -> T {
    try state.withLock { (state: inout State) throws(QueueError) -> T in
      guard let folder = state.folder else { throw .closed }
      do throws(QueueError) {
        return try body(&state, folder)
      } catch {
        close(&state, removing: true)
        throw error
      }
    }
  }
}

extension StagedArtifact {
  /// Copies a source into the next part: a regular file whole, whatever its offset; a pipe or socket to its end.
  ///
  /// - Parameters:
  ///   - name: The true name, in any bytes.
  ///   - mediaType: nil takes it from the name.
  ///   - longestSilence: Of a source that isn't a regular file, in milliseconds.
  ///   - isWanted: Asked before each chunk; false gives it all up.
  /// - Returns: The part's index, from 1.
  @discardableResult
  package func addPart(
    name: [UInt8], mediaType: String? = nil, from source: Descriptor, encode: PartEncoding? = nil,
    longestSilence: Int64 = 300_000, isWanted: () -> Bool = { true }
  ) throws(QueueError) -> Int {
    try step { (state: inout State, folder: Directory) throws(QueueError) -> Int in
      let index = state.manifest.parts.count + 1
      guard index <= Manifest.mostParts else { throw .tooManyParts(limit: Manifest.mostParts) }
      let display = PartName.display(name)
      let fileName = PartName.onDisk(index: index, display: display)
      try checkSpace(of: source)
      let file: Descriptor
      do throws(SystemError) { file = try folder.createFile(fileName) } catch { throw QueueError(error) }
      let copy = PartCopy(
        name: display, source: source, destination: file, encoding: encode, longestSilence: longestSilence)
      var reserved: Int64 = 0
      let outcome = try copy.run(while: isWanted) { (count: Int) throws(QueueError) in
        try admit(count, &state)
        reserved += Int64(count)
      }
      // Encoded, it takes less than was asked for (or a few bytes more).
      let surplus = reserved - outcome.stored.size
      pipeline.books.withLock { $0.release(artifacts: 0, bytes: surplus) }
      state.reservedBytes -= surplus
      state.unsynced.append(file)
      if state.unsynced.count >= Self.mostOpenFiles {
        let request = CommitRequest(files: state.unsynced)
        do throws(CommitError) { try pipeline.committer.commit(request) } catch {
          throw QueueError(error, artifactID: artifactID)
        }
        state.unsynced = []
      }
      state.manifest.parts.append(
        Manifest.Part(
          index: index, file: fileName, name: display, mediaType: mediaType ?? MediaType.guess(display),
          encoding: encode, stored: outcome.stored, original: outcome.original,
          deliveryID: state.sharedDeliveryID ?? .random(), settings: []))
      return index
    }
  }

  @discardableResult
  package func addPart(
    name: String, mediaType: String? = nil, from source: Descriptor, encode: PartEncoding? = nil
  ) throws(QueueError) -> Int {
    try addPart(name: Array(name.utf8), mediaType: mediaType, from: source, encode: encode)
  }

  /// Freezes what the settings that hold a template came to for a part. Unknown parts are passed over.
  package func setSettings(_ settings: [Manifest.Setting], forPart index: Int) {
    state.withLock { state in
      guard state.manifest.parts.indices.contains(index - 1) else { return }
      state.manifest.parts[index - 1].settings = settings
    }
  }

  package func addAttribute(_ attribute: Manifest.Attribute) {
    state.withLock { $0.manifest.attributes.append(attribute) }
  }

  /// Makes it an artifact of the queue: durable when this returns.
  ///
  /// - Parameter committer: The one of the state folder, unless said otherwise.
  package func commit(through committer: Committer? = nil) throws(QueueError) -> CommittedArtifact {
    try step { (state: inout State, folder: Directory) throws(QueueError) -> CommittedArtifact in
      guard !state.manifest.parts.isEmpty else { throw .noParts }
      let manifestFile = try write(state.manifest, in: folder)
      let (pipeline, queue) = (pipeline, queue)
      let name = StagingFolder.name(artifactID)
      let size = QueueBooks.Size(parts: state.manifest.parts.count, bytes: state.manifest.storedBytes)
      let published = PublishedSequence()
      // However the commit ends: what others committed after this one must not wait for it.
      defer { if let sequence = published.value.withLock({ $0 }) { pipeline.settle(sequence) } }
      let request = CommitRequest(
        files: state.unsynced + [manifestFile], folders: [folder], parents: [queue]
      ) { () throws(SystemError) in
        let sequence = try pipeline.publish(name, in: queue, size: size)
        published.value.withLock { $0 = sequence }
        return sequence
      }
      do throws(CommitError) {
        let sequence = try (committer ?? pipeline.committer).commit(request)
        close(&state, removing: false)
        return CommittedArtifact(sequence: sequence, artifactID: artifactID)
      } catch {
        if case .unknown = error { close(&state, removing: false) }
        throw QueueError(error, artifactID: artifactID)
      }
    }
  }

  private func write(_ manifest: Manifest, in folder: Directory) throws(QueueError) -> Descriptor {
    let bytes: [UInt8]
    do { bytes = try manifest.bytes() } catch { throw QueueError(error) }
    guard bytes.count <= Manifest.largest else { throw .manifestTooLarge(limit: Manifest.largest) }
    do throws(SystemError) {
      let file = try folder.createFile(Manifest.fileName)
      try file.write(bytes)
      return file
    } catch {
      throw QueueError(error)
    }
  }

  private func admit(_ count: Int, _ state: inout State) throws(QueueError) {
    let bytes = Int64(count)
    guard pipeline.books.withLock({ $0.reserve(bytes: bytes, within: limits) }) else {
      throw .pipelineFull(pipeline: pipeline.id, limits: limits)
    }
    state.reservedBytes += bytes
    state.uncheckedBytes += bytes
    guard state.uncheckedBytes >= Self.spaceCheckInterval else { return }
    state.uncheckedBytes = 0
    try pipeline.checkSpace(for: 0, limits)
  }

  /// Refuses a file that won't fit before its first byte is copied.
  private func checkSpace(of source: Descriptor) throws(QueueError) {
    guard let status = try? source.status(), status.kind == .file else {
      return try pipeline.checkSpace(for: 0, limits)
    }
    try pipeline.checkSpace(for: UInt64(max(0, status.size)), limits)
  }
}

extension PipelineFolder {
  /// Begins a new artifact, if there is room for one.
  package func stage(
    _ description: ArtifactDescription = ArtifactDescription(), limits: QueueLimits = QueueLimits()
  ) throws(QueueError) -> StagedArtifact {
    do { try loadBooks() } catch { throw QueueError(error) }
    try checkSpace(for: 0, limits)
    guard books.withLock({ $0.reserve(artifacts: 1, within: limits) }) else {
      throw .pipelineFull(pipeline: id, limits: limits)
    }
    do throws(QueueError) {
      return try StagedArtifact(self, limits, description)
    } catch {
      books.withLock { $0.release(artifacts: 1, bytes: 0) }
      throw error
    }
  }

  func checkSpace(for bytes: UInt64, _ limits: QueueLimits) throws(QueueError) {
    let found: (bytes: UInt64, inodes: UInt64)
    do { found = try folder.spaceLeft() } catch { throw QueueError(error) }
    let left = DiskRoom(bytes: found.bytes, inodes: found.inodes)
    guard !left.holds(bytes, limits) else { return }
    guard left.bytes > 0 && left.inodes > 0 else { throw .diskFull(path: queuePath) }
    throw .reserve(path: queuePath, limits: limits, left: left, wanted: bytes)
  }
}
