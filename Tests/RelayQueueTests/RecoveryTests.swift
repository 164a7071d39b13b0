// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@Suite struct `Recovery of a queue` {
  @Test func `artifacts come back in order and abandoned staging goes`() throws {
    try withPipeline { pipeline in
      for text in ["a", "b", "c"] { try submit([text], to: pipeline) }
      try pipeline.queue.makeFolder(".in-abandoned")
      try pipeline.queue.folder(".in-abandoned").replace("000001-x", with: [1])
      let recovery = try reopened(pipeline).recover()
      #expect(recovery == Recovery(sequences: [1, 2, 3]))
      #expect(try pipeline.queue.names() == ["0000000001", "0000000002", "0000000003"])
    }
  }

  @Test func `an artifact that can't be looked at just now keeps its turn`() throws {
    try withFolder { folder in
      let pipeline = try StateFolder.open(folder.path).pipeline("scans")
      for text in ["one", "two"] { try submit([text], to: pipeline) }
      let first = "\(pipeline.queuePath)/0000000001"
      try FaultDoor.with([Fault(.status, on: first, .fails(EIO))]) {
        let recovery = try pipeline.recover()
        #expect(recovery.sequences == [1, 2])
        #expect(recovery.problems.count == 1)
      }
      #expect(try pipeline.recover().problems == [])
    }
  }

  @Test func `staging whose writer lives is kept`() throws {
    try withPipeline { pipeline in
      let staged = try pipeline.stage()
      try staged.addPart(name: "x", from: try file("x", in: pipeline.folder))
      #expect(try reopened(pipeline).recover() == Recovery(inStaging: 1))
      #expect(try staged.commit().sequence == 1)
      #expect(try pipeline.recover() == Recovery(sequences: [1]))
    }
  }

  @Test func `deletion that was begun is finished`() throws {
    try withPipeline { pipeline in
      for _ in 0..<2 { try submit(["x"], to: pipeline) }
      FaultDoor.with([Fault(.unlink, on: pipeline.queuePath + "/.trash-0000000001", .fails(EIO))]) {
        do { try pipeline.remove(1) } catch { Issue.record(error) }
      }
      #expect(try pipeline.queue.names() == [".trash-0000000001", "0000000002"])
      try pipeline.subfolder("refused").makeFolder(".trash-0000000009")
      #expect(try reopened(pipeline).recover() == Recovery(sequences: [2]))
      #expect(try pipeline.queue.names() == ["0000000002"])
      #expect(try pipeline.subfolder("refused").names() == [])
    }
  }

  @Test func `what the marks name as delivered is removed, and only that very artifact`() throws {
    try withPipeline { pipeline in
      let first = try submit(["a"], to: pipeline)
      for text in ["b", "c", "d"] { try submit([text], to: pipeline) }
      var record = MarkRecord()
      record.completedThrough = 3
      record.pendingRemovals = [
        .init(sequence: 1, artifactID: first.artifactID), .init(sequence: 2, artifactID: first.artifactID),
      ]
      try pipeline.marks.write(record)
      let recovery = try reopened(pipeline).recover()
      #expect(recovery.sequences == [4])
      #expect(recovery.problems.count == 2)
      for problem in recovery.problems {
        guard case .movedToCorrupt = problem else {
          Issue.record("\(problem)")
          continue
        }
      }
      #expect(try pipeline.queue.names() == ["0000000004"])
      #expect(try pipeline.subfolder("corrupt").names() == ["0000000002", "0000000003"])
      #expect(
        try pipeline.subfolder("corrupt").folder("0000000002").content(of: "000001-part_1.txt") == Array("b".utf8))
      #expect(try pipeline.subfolder("corrupt").folder("0000000003").content(of: "reason.json") != nil)
    }
  }

  @Test func `junk is reported and left alone`() throws {
    try withPipeline { pipeline in
      try submit(["a"], to: pipeline)
      let queue = try pipeline.queue
      let long = String(repeating: "n", count: 255)
      for name in ["stray", ".hidden", "1", "00000000002", "000000000x", "99999999999999999999", long] {
        try queue.makeFolder(name)
      }
      #expect(mkfifo(queue.path + "/0000000007", 0o600) == 0)
      #expect(symlink("/etc", queue.path + "/0000000008") == 0)
      #expect(mkfifo(queue.path + "/.in-fifo", 0o600) == 0)
      let raw: [CChar] = Array((queue.path + "/").utf8CString.dropLast()) + [-1, -2, 0]
      #expect(mkdir(raw, 0o700) == 0)
      let before = try queue.rawNames().count
      let recovery = try pipeline.recover()
      #expect(recovery.sequences == [1])
      #expect(recovery.problems.count == 11)
      #expect(try queue.rawNames().count == before)
      #expect(damage(of: pipeline, 7) == .notAFolder)
      #expect(damage(of: pipeline, 8) == .notAFolder)
      #expect(try submit(["b"], to: try reopened(pipeline)).sequence == 9)
    }
  }

  @Test(arguments: [
    SystemCall.open, .status, .lock, .unlink, .removeDirectory, .list, .rename, .sync, .write, .read,
  ])
  func `whichever call fails, the next recovery comes to the same end and nothing accepted is lost`(
    call: SystemCall
  ) throws {
    try withPipeline { pipeline in
      for after in 0..<40 {
        let first = try submit(["old"], to: pipeline)
        let second = try submit(["contradiction"], to: pipeline)
        let third = try submit(["new"], to: pipeline)
        try pipeline.queue.makeFolder(".in-abandoned")
        try pipeline.queue.makeFolder(".trash-0000000001")
        try pipeline.queue.folder(".trash-0000000001").replace("x", with: [1], durable: false)
        var record = MarkRecord()
        record.completedThrough = second.sequence
        record.pendingRemovals = [.init(sequence: first.sequence, artifactID: first.artifactID)]
        try pipeline.marks.write(record)
        FaultDoor.with([Fault(call, on: pipeline.folder.path, .fails(EIO), after: after, times: 1)]) {
          _ = try? pipeline.recover()
        }
        let again = try reopened(pipeline).recover()
        #expect(again.sequences == [third.sequence])
        #expect(try pipeline.queue.names() == [SequenceName.name(third.sequence)])
        #expect(try pipeline.subfolder("corrupt").names().last == SequenceName.name(second.sequence))
        try pipeline.remove(third.sequence)
      }
    }
  }

  @Test func `a hundred thousand artifacts are found without opening one`() throws {
    try withPipeline(in: "/dev/shm") { pipeline in
      for sequence in 1...100_000 { try pipeline.queue.makeFolder(SequenceName.name(UInt64(sequence))) }
      let again = try reopened(pipeline)
      let start = BootTime.now
      // Any part or manifest that was opened would fail.
      let recovery = try FaultDoor.with([Fault(.open, on: pipeline.queuePath + "/0", .fails(EMFILE))]) {
        try again.recover()
      }
      print("recovered 100000 in \(BootTime.now.milliseconds(since: start)) ms")
      #expect(recovery.sequences == (1...100_000).map { UInt64($0) })
      #expect(again.totals.artifacts == 100_000)
      #expect(throws: QueueError.self) { try again.stage() }
    }
  }
}

@Suite struct `Damaged artifacts` {
  /// Commits one artifact, damages it, and says what is found.
  private func damage(_ change: (Directory) throws -> Void) throws -> ArtifactDamage? {
    try withPipeline { pipeline in
      try submit(["first", "second"], to: pipeline)
      try change(try pipeline.queue.folder("0000000001"))
      return RelayQueueTests.damage(of: try reopened(pipeline), 1)
    }
  }

  private let part = "000002-part_2.txt"

  @Test func `are told by what is wrong`() throws {
    #expect(try damage { _ in } == nil)
    #expect(try damage { try $0.remove("manifest.json") } == .manifest(.missing))
    #expect(try damage { try $0.replace("manifest.json", with: []) } == .manifest(.cut))
    #expect(try damage { try $0.remove(part) } == .partMissing(file: part))
    #expect(try damage { try $0.replace(part, with: [1]) } == .partSize(file: part, expected: 6, found: 1))
    #expect(
      try damage {
        try $0.remove(part)
        try $0.makeFolder(part)
      } == .partNotAFile(file: part))
    #expect(
      try damage {
        try $0.remove(part)
        symlink("/etc/passwd", $0.path + "/" + part)
      } == .partNotAFile(file: part))
    #expect(
      try damage {
        try $0.remove("manifest.json")
        mkfifo($0.path + "/manifest.json", 0o600)
      } == .partNotAFile(file: "manifest.json"))
  }

  @Test func `a link or FIFO in a part's place is not opened, and changed bytes are found`() throws {
    try withPipeline { pipeline in
      try submit(["first", "second"], to: pipeline)
      let artifact = try pipeline.openArtifact(1)
      let artifactPath = try artifact.folder.path
      try artifact.folder.replace(part, with: Array("SECOND".utf8))
      let open = try artifact.openPart(2)
      #expect(throws: ArtifactDamage.partContent(file: part)) { try artifact.verifyPart(2, open) }
      try artifact.folder.remove(part)
      #expect(throws: ArtifactDamage.partMissing(file: part)) { try artifact.openPart(2) }
      #expect(symlink("000001-part_1.txt", artifactPath + "/" + part) == 0)
      #expect(throws: ArtifactDamage.partNotAFile(file: part)) { try artifact.openPart(2) }
      try artifact.folder.remove(part)
      #expect(mkfifo(artifactPath + "/" + part, 0o600) == 0)
      #expect(throws: ArtifactDamage.self) { try artifact.openPart(2) }
      #expect(throws: ArtifactDamage.self) { try artifact.openPart(0) }
      #expect(throws: ArtifactDamage.self) { try artifact.openPart(3) }
    }
  }

  @Test func `what can't be read now is no damage`() throws {
    try withPipeline { pipeline in
      try submit(["x"], to: pipeline)
      for (call, code) in [(SystemCall.open, EMFILE), (.open, EACCES), (.read, EIO), (.status, EIO)] {
        FaultDoor.with([Fault(call, on: pipeline.queuePath + "/0000000001", .fails(code))]) {
          let found = RelayQueueTests.damage(of: pipeline, 1)
          #expect(found?.isDamage == false)
        }
      }
      #expect(RelayQueueTests.damage(of: pipeline, 1) == nil)
      #expect(RelayQueueTests.damage(of: pipeline, 2) == .missing)
    }
  }

  @Test func `are kept in corrupt with the reason`() throws {
    try withPipeline { pipeline in
      try submit(["x"], to: pipeline)
      try pipeline.moveToCorrupt(1, reason: "because")
      try pipeline.moveToCorrupt(1, reason: "because")
      #expect(try pipeline.recover().sequences == [])
      let folder = try pipeline.subfolder("corrupt").folder("0000000001")
      let reason = String(decoding: try #require(try folder.content(of: "reason.json")), as: UTF8.self)
      #expect(reason.contains("\"message\": \"because\""))
    }
  }
}

@Suite struct `What was refused` {
  private let reason = SetAsideReason(
    verdict: "refused", message: "no such mailbox", status: 550, at: WallTime(milliseconds: 1_764_000_000_000), part: 2,
    attempts: 3)

  @Test func `is listed with its reason, can be sent again with its identities, and deleted`() throws {
    try withPipeline { pipeline in
      let ids = try (0..<3).map { try submit(["x\($0)", "yy"], to: pipeline).artifactID }
      for sequence: UInt64 in 1...2 { try pipeline.setAside(sequence, reason: reason) }
      try pipeline.setAside(1, reason: reason)
      let again = try reopened(pipeline)
      let refused = try again.refused()
      #expect(refused.map(\.sequence) == [1, 2] && refused.map(\.artifactID) == [ids[0], ids[1]])
      #expect(refused.allSatisfy { $0.reason == reason && $0.parts == 2 && $0.bytes == 4 })
      #expect(try again.refusedBytes() == 8)
      #expect(try again.recover().sequences == [3])
      let before = try again.subfolder("refused").folder("0000000001").content(of: "manifest.json")
      #expect(try again.resend("0000000001") == CommittedArtifact(sequence: 4, artifactID: ids[0]))
      let artifact = try again.openArtifact(4)
      #expect(try artifact.folder.content(of: "manifest.json") == before)
      #expect(try artifact.folder.names() == ["000001-part_1.txt", "000002-part_2.txt", "manifest.json"])
      try again.deleteRefused("0000000002")
      #expect(try again.refused() == [] && again.refusedBytes() == 0)
      #expect(throws: ResendError.damaged(.missing)) { try again.resend("0000000002") }
      #expect(throws: SystemError.self) { try again.deleteRefused("..") }
      #expect(throws: ResendError.damaged(.missing)) { try again.resend("../queue/0000000003") }
    }
  }

  @Test func `is measured while another one is deleted`() throws {
    try withPipeline { pipeline in
      for _ in 0..<2 { _ = try submit(["xx"], to: pipeline) }
      for sequence: UInt64 in 1...2 { try pipeline.setAside(sequence, reason: reason) }
      let first = Fault(.open, on: pipeline.folder.path + "/refused/0000000001", .fails(ENOENT))
      #expect(try FaultDoor.with([first]) { () throws in try pipeline.refusedBytes() } == 2)
      let broken = Fault(.open, on: pipeline.folder.path + "/refused/0000000001", .fails(EIO))
      #expect(throws: SystemError.self) { try FaultDoor.with([broken]) { () throws in try pipeline.refusedBytes() } }
    }
  }

  @Test func `is not sent again when it is damaged`() throws {
    try withPipeline { pipeline in
      try submit(["x"], to: pipeline)
      try pipeline.setAside(1, reason: reason)
      try pipeline.subfolder("refused").folder("0000000001").remove("manifest.json")
      #expect(throws: ResendError.damaged(.manifest(.missing))) { try pipeline.resend("0000000001") }
      #expect(try pipeline.refused().first?.artifactID == nil)
      #expect(try pipeline.refused().count == 1)
    }
  }

  @Test func `does not push out what lies there under the same number`() throws {
    try withPipeline { pipeline in
      try pipeline.subfolder("refused").makeFolder("0000000001")
      try submit(["x"], to: pipeline)
      try pipeline.queue.rename("0000000002", to: pipeline.queue, as: "0000000001")
      try pipeline.setAside(1, reason: reason)
      #expect(try pipeline.refused().map(\.name) == ["0000000001", "0000000001-2"])
      #expect(try pipeline.resend("0000000001-2").sequence == 3)
    }
  }

  @Test(arguments: [SystemCall.open, .write, .sync, .rename, .status])
  func `is in exactly one place whichever call fails`(call: SystemCall) throws {
    try withPipeline { pipeline in
      for after in 0..<12 {
        let sequence = try submit(["x"], to: pipeline).sequence
        FaultDoor.with([Fault(call, on: pipeline.folder.path, .fails(EIO), after: after, times: 1)]) {
          try? pipeline.setAside(sequence, reason: reason)
        }
        let queued = try pipeline.queue.names().count
        #expect(queued + (try pipeline.refused().count) == 1)
        try pipeline.setAside(sequence, reason: reason)
        #expect(try pipeline.queue.names() == [])
        try pipeline.deleteRefused(SequenceName.name(sequence))
      }
    }
  }
}

@Suite struct `Counting` {
  @Test func `parts and bytes are right after arrivals, departures and a restart`() throws {
    try withPipeline { pipeline in
      for text in ["a", "bb", "ccc"] { try submit([text, text], to: pipeline) }
      let again = try reopened(pipeline)
      #expect(try again.measure() == QueueTotals(artifacts: 3, parts: 6, bytes: 12, isMeasured: true))
      try again.remove(2)
      try submit(["dddd"], to: again)
      try again.setAside(1, reason: SetAsideReason(verdict: "refused", message: ""))
      #expect(again.totals == QueueTotals(artifacts: 2, parts: 3, bytes: 10, isMeasured: true))
      try again.remove(2)
      #expect(again.totals.artifacts == 2)
      #expect(try reopened(again).measure() == again.totals)
    }
  }

  @Test func `what comes and goes while it is counted is counted right`() {
    var books = QueueBooks()
    books.setArtifacts(3)
    books.beginMeasuring()
    let size = QueueBooks.Size(parts: 1, bytes: 10)
    books.arrived(4, size)
    books.departed(2, nil)
    books.arrived(5, size)
    books.departed(5, nil)
    // The walk saw 2 before it left and 4 after it came.
    books.endMeasuring([1, 2, 3, 4].map { ($0, size) })
    #expect(books.totals == QueueTotals(artifacts: 3, parts: 3, bytes: 30, isMeasured: true))
  }
}
