// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelayArchive
import RelayQueue
import RelaySystem
import ScenarioSupport
import Synchronization
import Testing

/// What was promised and what was done, kept outside of the file system.
private final class Promises: Sendable {
  struct Books: Sendable {
    var accepted: [UInt64: Identifier] = [:]
    /// The mark that names it as delivered is durable, or is just being written.
    var deliveredForSure: Set<UInt64> = []
    var deliveredPerhaps: Set<UInt64> = []
  }
  let books = Mutex(Books())
  let arrivals = DispatchSemaphore(value: 0)
}

@Suite(.serialized) struct `A power cut` {
  /// Hands in artifacts until the disk fails.
  private func write(_ pipeline: PipelineFolder, _ source: Descriptor, parts: Int, _ promises: Promises) {
    while true {
      do throws(QueueError) {
        let staged = try pipeline.stage(limits: QueueLimits(freeBytes: 0, freeInodes: 0))
        for _ in 0..<parts { try staged.addPart(name: "x", from: source) }
        let committed = try staged.commit()
        promises.books.withLock { $0.accepted[committed.sequence] = committed.artifactID }
        promises.arrivals.signal()
      } catch {
        return
      }
    }
  }

  /// Delivers from the head: marks, then removes, until the disk fails.
  private func deliver(_ pipeline: PipelineFolder, _ promises: Promises) {
    var record = MarkRecord()
    var next: UInt64 = 1
    while true {
      do throws(ArtifactDamage) {
        let artifact = try pipeline.openArtifact(next)
        record.completedThrough = next
        record.pendingRemovals = [.init(sequence: next, artifactID: artifact.manifest.artifactID)]
        promises.books.withLock { _ = $0.deliveredPerhaps.insert(next) }
        do throws(CommitError) {
          try pipeline.marks.write(record)
          promises.books.withLock { _ = $0.deliveredForSure.insert(next) }
          try pipeline.remove(next)
        } catch {
          return
        }
        next += 1
      } catch {
        // The queue is empty now.
        guard case .missing = error else { return }
        sched_yield()
      }
    }
  }

  private func run(_ disk: CuttableDisk, source: Descriptor, after count: Int, _ promises: Promises) throws {
    let pipeline = try StateFolder.open(disk.path).pipeline("scans")
    let done = DispatchSemaphore(value: 0)
    for parts in 1...3 {
      try startThread("writer-\(parts)") {
        write(pipeline, source, parts: parts, promises)
        done.signal()
      }
    }
    try startThread("delivery") {
      deliver(pipeline, promises)
      done.signal()
    }
    for _ in 0..<count { promises.arrivals.wait() }
    #expect(disk.cut())
    for _ in 0..<4 { done.wait() }
  }

  @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
  func `loses nothing that was accepted, keeps nothing half, and brings nothing back that was delivered`(
    count: Int
  ) throws {
    try withFolder { folder in
      guard let disk = CuttableDisk(in: folder.path) else { return }
      defer { _ = disk.unmount() }
      let source = try file((0..<9000).map { UInt8(truncatingIfNeeded: $0) }, in: folder)
      let promises = Promises()
      try run(disk, source: source, after: count, promises)
      try #require(disk.restart())
      let books = promises.books.withLock { $0 }
      try check(try StateFolder.open(disk.path).pipeline("scans"), books)
    }
  }

  private func check(_ pipeline: PipelineFolder, _ books: Promises.Books) throws {
    let recovery = try pipeline.recover()
    #expect(recovery.problems == [] && recovery.inStaging == 0)
    #expect(try pipeline.subfolder("corrupt").names() == [])
    #expect(pipeline.marksFinding == .good)
    #expect(recovery.sequences.allSatisfy { !books.deliveredForSure.contains($0) })
    for sequence in recovery.sequences {
      let artifact = try pipeline.openArtifact(sequence)
      for part in artifact.manifest.parts { try artifact.verifyPart(part.index, try artifact.openPart(part.index)) }
      if let id = books.accepted[sequence] { #expect(artifact.manifest.artifactID == id) }
    }
    let kept = Set(recovery.sequences)
    #expect(books.accepted.keys.allSatisfy { kept.contains($0) || books.deliveredPerhaps.contains($0) })
    // And it goes on.
    #expect(try submit(["after"], to: pipeline).sequence > (books.accepted.keys.max() ?? 0))
  }
}
