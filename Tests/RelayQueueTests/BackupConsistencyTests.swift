// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelayQueue
import RelaySystem
import RelayTestSupport
import Synchronization
import Testing

/// What was promised by those who work while backups are written.
private final class Ledger: Sendable {
  struct Books: Sendable {
    var accepted: [Identifier] = []
    /// Marked as delivered, or about to be.
    var deliveredPerhaps: Set<Identifier> = []
    /// Whose mark was on the disk.
    var delivered: Set<Identifier> = []
  }
  let books = Mutex(Books())
  let isOver = Mutex(false)
  var goesOn: Bool { !isOver.withLock { $0 } }
}

@Suite(.serialized) struct `A backup while others work` {
  private func write(_ pipeline: PipelineFolder, _ source: Descriptor, _ ledger: Ledger) {
    var round = 0
    while ledger.goesOn {
      _ = eventually(within: 1) { pipeline.totals.artifacts < 30 || !ledger.goesOn }
      round += 1
      // Now and then one with more parts than may be held open for the rest.
      let parts = round % 40 == 0 ? 450 : 1 + round % 3
      guard let staged = try? pipeline.stage() else { continue }
      for _ in 0..<parts { _ = try? staged.addPart(name: "x", from: source) }
      if let committed = try? staged.commit() {
        ledger.books.withLock { $0.accepted.append(committed.artifactID) }
      }
    }
  }

  /// Delivers from the head, refuses every fifth, as the engine does it.
  private func deliver(_ pipeline: PipelineFolder, _ ledger: Ledger) {
    var record = MarkRecord()
    while ledger.goesOn {
      guard let next = (try? pipeline.sequences())?.first(where: { $0 > record.completedThrough }),
        let id = (try? pipeline.openArtifact(next))?.manifest.artifactID
      else {
        _ = eventually(within: 1) { pipeline.totals.artifacts > 0 || !ledger.goesOn }
        continue
      }
      if next % 5 == 0 {
        guard (try? pipeline.setAside(next, reason: SetAsideReason(verdict: "refused", message: "no"))) != nil else {
          continue
        }
        record.completedThrough = next
        _ = try? pipeline.marks.write(record)
        continue
      }
      record.completedThrough = next
      record.pendingRemovals = (record.pendingRemovals + [.init(sequence: next, artifactID: id)]).suffix(8)
      ledger.books.withLock { _ = $0.deliveredPerhaps.insert(id) }
      guard (try? pipeline.marks.write(record)) != nil else { continue }
      ledger.books.withLock { _ = $0.delivered.insert(id) }
      _ = try? pipeline.remove(next)
    }
  }

  private func resend(_ pipeline: PipelineFolder, _ ledger: Ledger) {
    while ledger.goesOn {
      _ = eventually(within: 1) { (try? pipeline.refusedCount()) != 0 || !ledger.goesOn }
      if let first = (try? pipeline.refused())?.first { _ = try? pipeline.resend(first.name) }
    }
  }

  private func identifiers(_ pipeline: PipelineFolder) throws -> (queue: [Identifier], refused: [Identifier]) {
    (
      try pipeline.sequences().map { try pipeline.openArtifact($0).manifest.artifactID },
      try pipeline.refused().compactMap(\.artifactID)
    )
  }

  @Test func `shows one moment, loses nothing accepted before, and brings back nothing delivered without its mark`()
    throws
  {
    try withFolder(in: "/dev/shm") { folder in
      let state = try StateFolder.open(folder.path + "/state")
      let pipeline = try state.pipeline("scans")
      let source = try file((0..<3000).map { UInt8(truncatingIfNeeded: $0) }, in: folder)
      let ledger = Ledger()
      let done = DispatchSemaphore(value: 0)
      let works: [@Sendable () -> Void] = [
        { write(pipeline, source, ledger) }, { write(pipeline, source, ledger) }, { deliver(pipeline, ledger) },
        { resend(pipeline, ledger) },
      ]
      for work in works {
        try startThread("work") {
          work()
          done.signal()
        }
      }
      defer {
        ledger.isOver.withLock { $0 = true }
        for _ in works { done.wait() }
      }
      for round in 1...5 {
        #expect(eventually { ledger.books.withLock { $0.accepted.count } >= 15 * round })
        let before = ledger.books.withLock { $0 }
        let moment = Mutex<([String], [String])>(([], []))
        var watching = options
        watching.atMoment = { _ in
          let queue = (try? pipeline.queue.names())?.filter { !$0.hasPrefix(".") } ?? []
          let refused = (try? pipeline.subfolder("refused").names())?.filter { !$0.hasPrefix(".") } ?? []
          moment.withLock { $0 = (queue, refused) }
        }
        try backUp(state, to: folder.path + "/backup", watching)
        let after = ledger.books.withLock { $0 }
        try putBack(folder.path + "/backup", into: folder.path + "/again")
        try check(folder.path + "/again", moment.withLock { $0 }, before, after)
        try folder.removeTree("backup")
        try folder.removeTree("again")
      }
    }
  }

  private func check(
    _ path: String, _ moment: ([String], [String]), _ before: Ledger.Books, _ after: Ledger.Books
  ) throws {
    let pipeline = try StateFolder.open(path).pipeline("scans")
    #expect(try pipeline.queue.names() == moment.0)
    #expect(try pipeline.subfolder("refused").names() == moment.1)
    let there = Set(try identifiers(pipeline).queue + identifiers(pipeline).refused)
    let recovery = try pipeline.recover()
    #expect(recovery.problems == [])
    for sequence in recovery.sequences {
      let artifact = try pipeline.openArtifact(sequence)
      for part in artifact.manifest.parts { try artifact.verifyPart(part.index, try artifact.openPart(part.index)) }
    }
    let lost = before.accepted.filter { !there.contains($0) && !after.deliveredPerhaps.contains($0) }
    #expect(lost == [])
    // What was marked before the backup began is not queued again.
    let queued = Set(try identifiers(pipeline).queue)
    #expect(queued.intersection(before.delivered) == [])
  }

  @Test func `leaves out a pipeline that is removed meanwhile, and takes one that begins anew`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      for id in ["a", "b", "c"] {
        for number in 1...3 { try submit(["\(id) \(number)", "x"], to: try state.pipeline(id)) }
      }
      var isGone = false
      let first = try backUp(state, to: folder.path + "/1") { progress in
        if progress.pipeline == "b" && progress.files % 9 == 5 && !isGone {
          isGone = true
          try? state.removePipeline("b")
        }
        return true
      }
      #expect(isGone && first.pipelines.map(\.id) == ["a", "c"])
      try BackupReader(try Directory(folder.path + "/1")).verify()
      #expect(try !Directory(folder.path + "/1/pipelines").names().contains("b"))
      var isNew = false
      let second = try backUp(state, to: folder.path + "/2") { progress in
        if progress.pipeline == "c" && progress.artifacts > 4 && !isNew {
          isNew = true
          try? state.removePipeline("c")
          _ = try? submit(["anew"], to: try state.pipeline("c"))
        }
        return true
      }
      #expect(isNew && second.pipelines.map(\.id) == ["a", "c"] && second.pipelines.last?.queued == 1)
      try BackupReader(try Directory(folder.path + "/2")).verify()
    }
  }

  @Test func `takes a file that is just being taken from the inbox once: as the artifact, or as the file`() throws {
    for isCommitted in [true, false] {
      try withFolder { folder in
        let state = try StateFolder.open(folder.path + "/state")
        let pipeline = try state.pipeline("scans")
        let inbox = try pipeline.subfolder("inbox")
        let staged = try pipeline.stage()
        try staged.addPart(name: "letter.txt", from: try file("letter", in: folder))
        let id = staged.artifactID
        if isCommitted { _ = try staged.commit() }
        let taken = Array(".taken-\(id)".utf8)
        try inbox.createFile(raw: taken).write(Array("letter".utf8))
        let taking = BackupInbox.Taking(artifactID: id, file: taken, name: Array("letter.txt".utf8))
        let inboxRules = BackupInbox(taking: { _ in taking })
        let manifest = try backUp(
          state, to: folder.path + "/backup", BackupOptions(program: "test", inbox: inboxRules))
        #expect(manifest.pipelines.first?.queued == (isCommitted ? 1 : 0))
        #expect(manifest.pipelines.first?.inbox == (isCommitted ? 0 : 1))
        try putBack(folder.path + "/backup", into: folder.path + "/again")
        #expect(
          try Directory(folder.path + "/again/pipelines/scans/inbox").names() == (isCommitted ? [] : ["letter.txt"]))
      }
    }
  }
}
