// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelayQueue
import RelaySystem
import Testing

@Suite struct `Handing in an artifact` {
  @Test func `what was committed is there with its names, bytes and identities`() throws {
    try withPipeline { pipeline in
      let staged = try pipeline.stage(
        ArtifactDescription(mailDomain: "example.org", attributes: [Manifest.Attribute("days", "2026-11-30")]))
      try staged.addPart(name: "Bericht für März.pdf", from: try file("first", in: pipeline.folder))
      try staged.addPart(name: "b", mediaType: "text/x-own", from: try file("second", in: pipeline.folder))
      staged.setSettings([Manifest.Setting(path: "subject", text: "two")], forPart: 2)
      let committed = try staged.commit()
      #expect(committed.sequence == 1)
      let artifact = try reopened(pipeline).openArtifact(1)
      let manifest = artifact.manifest
      #expect(manifest == staged.manifest)
      #expect(manifest.artifactID == committed.artifactID)
      #expect(manifest.messageID == "<\(committed.artifactID)@example.org>")
      #expect(manifest.parts.map(\.name) == ["Bericht für März.pdf", "b"])
      #expect(manifest.parts.map(\.file) == ["000001-Bericht_f_r_M_rz.pdf", "000002-b"])
      #expect(manifest.parts.map(\.mediaType) == ["application/pdf", "text/x-own"])
      #expect(manifest.parts[1].settings == [Manifest.Setting(path: "subject", text: "two")])
      #expect(manifest.parts[0].stored.sha256 == (try SHA256Hasher.digest(of: Array("first".utf8))))
      #expect(Set(manifest.parts.map(\.deliveryID)).count == 2)
      #expect(try content(of: artifact, 1) == "first")
      #expect(try content(of: artifact, 2) == "second")
      try artifact.verifyPart(2, try artifact.openPart(2))
    }
  }

  @Test func `sequences go up, over a restart and past what was set aside or delivered`() throws {
    try withPipeline { pipeline in
      #expect(try submit(["a"], to: pipeline).sequence == 1)
      #expect(try submit(["b"], to: pipeline).sequence == 2)
      try pipeline.setAside(2, reason: SetAsideReason(verdict: "refused", message: "no"))
      #expect(try submit(["c"], to: try reopened(pipeline)).sequence == 3)
      try pipeline.moveToCorrupt(3, reason: "test")
      #expect(try submit(["d"], to: try reopened(pipeline)).sequence == 4)
      var record = MarkRecord()
      record.completedThrough = 7
      try pipeline.marks.write(record)
      #expect(try submit(["e"], to: try reopened(pipeline)).sequence == 8)
    }
  }

  @Test func `the last number there is says where it stands and how to go on`() throws {
    try withPipeline { pipeline in
      try pipeline.subfolder("corrupt").makeFolder("999999999999999999")
      let again = try reopened(pipeline)
      let expected = QueueError.noNumberLeft(pipeline: again.folder.path)
      #expect(throws: expected) { try submit(["a"], to: again) }
      #expect(expected.message.contains("999999999999999999") && expected.message.contains("move it away"))
      #expect(try again.queue.names() == [])
      try pipeline.subfolder("corrupt").removeTree("999999999999999999")
      #expect(try submit(["a"], to: try reopened(pipeline)).sequence == 1)
    }
  }

  @Test(arguments: [true, false]) func `what nobody waits for any more is given up in its middle`(isEndless: Bool)
    throws
  {
    try withPipeline { pipeline in
      let staged = try pipeline.stage()
      // One never ends, and one never begins.
      let (reader, writer) = try UnixSocket.pipe()
      try reader.setNonBlocking()
      let source = isEndless ? try Directory("/dev").openDevice("zero") : reader
      var asked = 0
      #expect(throws: QueueError.unwanted) {
        try staged.addPart(name: Array("x".utf8), from: source) {
          asked += 1
          return asked < 3
        }
      }
      #expect(asked == 3)
      #expect(try pipeline.queue.names() == [])
      withExtendedLifetime(writer) {}
    }
  }

  @Test func `the unit artifact has one delivery id for all parts`() throws {
    try withPipeline { pipeline in
      let staged = try pipeline.stage(ArtifactDescription(unit: .artifact))
      for _ in 0..<3 { try staged.addPart(name: "x", from: try file("x", in: pipeline.folder)) }
      _ = try staged.commit()
      #expect(Set(staged.manifest.parts.map(\.deliveryID)).count == 1)
    }
  }

  @Test func `an artifact that is given up, dropped or empty leaves nothing`() throws {
    try withPipeline { pipeline in
      do {
        let staged = try pipeline.stage()
        try staged.addPart(name: "x", from: try file("x", in: pipeline.folder))
        #expect(try pipeline.queue.names() == [".in-\(staged.artifactID)"])
        staged.abort()
        #expect(try pipeline.queue.names() == [])
        #expect(throws: QueueError.closed) { try staged.commit() }
      }
      do { _ = try pipeline.stage() }
      #expect(try pipeline.queue.names() == [])
      #expect(throws: QueueError.noParts) { try pipeline.stage().commit() }
      #expect(try pipeline.queue.names() == [])
    }
  }

  @Test func `a pipe is read to its end`() throws {
    try withPipeline { pipeline in
      let (read, write) = try UnixSocket.pipe()
      try read.setNonBlocking()
      let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
      try startThread("writer") { try? write.write(bytes) }
      let staged = try pipeline.stage()
      _ = consume write
      try staged.addPart(name: "stream", from: read)
      let sequence = try staged.commit().sequence
      let artifact = try pipeline.openArtifact(sequence)
      #expect(try artifact.openPart(1).readAll(limit: 4 << 20) == bytes)
    }
  }

  @Test func `a silent source is given up`() throws {
    try withPipeline { pipeline in
      let (read, write) = try UnixSocket.pipe()
      try read.setNonBlocking()
      #expect(throws: QueueError.sourceStalled(name: "x", milliseconds: 1)) {
        try pipeline.stage().addPart(name: Array("x".utf8), from: read, longestSilence: 1)
      }
      try write.write([1])
      #expect(try pipeline.queue.names() == [])
    }
  }

  @Test func `a file is taken whole, wherever its offset stands, and compressed on request`() throws {
    try withPipeline { pipeline in
      let text = String(repeating: "the same again ", count: 10_000)
      let source = try file(text, in: pipeline.folder)
      try source.seek(to: 100)
      let staged = try pipeline.stage()
      try staged.addPart(name: "log.txt", from: source, encode: .gzip)
      _ = try staged.commit()
      let part = try pipeline.openArtifact(1).manifest.parts[0]
      #expect(part.encoding == .gzip)
      #expect(part.original == Manifest.Content(size: 150_000, sha256: try SHA256Hasher.digest(of: Array(text.utf8))))
      #expect(part.stored.size < 2000)
      try pipeline.openArtifact(1).verifyPart(1, try pipeline.openArtifact(1).openPart(1))
      #expect(try pipeline.measure() == QueueTotals(artifacts: 1, parts: 1, bytes: part.stored.size, isMeasured: true))
    }
  }

  @Test(arguments: ["grows", "shrinks", "is written over", "is replaced by itself"])
  func `a file that changes while it is copied is not taken`(change: String) throws {
    try withFolder { folder in
      let bytes = [UInt8](repeating: 7, count: PartCopy.chunkSize * 2)
      let source = try file(bytes, in: folder)
      let writer = try folder.openFile("source", writable: true)
      let copy = PartCopy(
        name: "x", source: source, destination: try folder.createFile("copy"), encoding: nil, longestSilence: 0)
      var chunks = 0
      #expect(throws: QueueError.sourceChanged(name: "x")) {
        _ = try copy.run { (_: Int) throws(QueueError) in
          chunks += 1
          guard chunks == 1 else { return }
          switch change {
          case "grows": try? writer.write([1], at: Int64(bytes.count))
          case "shrinks": try? writer.truncate(to: 10)
          case "is written over": try? writer.write([8], at: 0)
          default: try? writer.write([7], at: 0)
          }
        }
      }
    }
  }

  @Test func `a source that can't be read is named, and nothing is left`() throws {
    try withPipeline { pipeline in
      let source = try file("before", in: pipeline.folder)
      FaultDoor.with([Fault(.read, on: source.path, .fails(EIO))]) {
        #expect(throws: QueueError.source(name: "x", SystemError(call: .read, code: EIO, subject: source.path))) {
          try pipeline.stage().addPart(name: "x", from: source)
        }
        #expect(throws: QueueError.self) {
          try pipeline.stage().addPart(name: "x", from: pipeline.folder.descriptor)
        }
      }
      #expect(try pipeline.queue.names() == [])
    }
  }

  @Test(arguments: [
    (SystemCall.makeDirectory, ENOSPC), (.open, EMFILE), (.lock, EIO), (.write, ENOSPC), (.write, EDQUOT),
    (.write, EIO),
    (.sync, EIO), (.sync, ENOSPC), (.rename, EIO), (.rename, ENOSPC), (.status, EIO),
  ])
  func `whichever call fails, at whichever time, nothing half is left and the next one succeeds`(
    call: SystemCall, code: Int32
  ) throws {
    try withPipeline { pipeline in
      let source = try file("content", in: pipeline.folder)
      var committed = 0
      for after in 0..<40 {
        var outcome: Result<CommittedArtifact, any Error>?
        FaultDoor.with([Fault(call, on: pipeline.queuePath, .fails(code), after: after, times: 1)]) {
          outcome = Result {
            let staged = try pipeline.stage()
            try staged.addPart(name: "x", from: source)
            return try staged.commit()
          }
        }
        switch try #require(outcome) {
        case .success: committed += 1
        case .failure(let error):
          let error = try #require(error as? QueueError)
          if code == ENOSPC || code == EDQUOT {
            if case .unknown = error {} else { #expect(error == .diskFull(path: "") || isDiskFull(error)) }
          }
          if case .unknown = error { committed += 1 }
        }
        // A folder that could not even be opened is left to recovery.
        let recovery = try pipeline.recover()
        #expect(recovery.problems.isEmpty && recovery.inStaging == 0)
        #expect(recovery.sequences.count == committed)
        for sequence in recovery.sequences { #expect(damage(of: pipeline, sequence) == nil) }
        if after > 20 && committed > after { break }
      }
      #expect(committed > 0)
      #expect(try pipeline.queue.names().count == committed)
    }
  }

  private func isDiskFull(_ error: QueueError) -> Bool {
    if case .diskFull = error { true } else { false }
  }
}

@Suite struct `Limits of a queue` {
  @Test func `artifacts beyond the limit are refused and those in staging count`() throws {
    try withPipeline { pipeline in
      let limits = QueueLimits(artifacts: 2)
      try submit(["a"], to: pipeline)
      let second = try pipeline.stage(limits: limits)
      #expect(throws: QueueError.pipelineFull(pipeline: "scans", limits: limits)) { try pipeline.stage(limits: limits) }
      second.abort()
      _ = try pipeline.stage(limits: limits)
      try submit(["b"], to: pipeline)
      #expect(throws: QueueError.self) { try reopened(pipeline).stage(limits: limits) }
      try pipeline.remove(1)
      _ = try pipeline.stage(limits: limits)
    }
  }

  @Test func `bytes beyond the limit are refused, and given free by what leaves`() throws {
    try withPipeline { pipeline in
      try submit([String(repeating: "x", count: 600)], to: pipeline)
      try pipeline.measure()
      let limits = QueueLimits(bytes: 1000)
      let source = try file([UInt8](repeating: 1, count: 500), in: pipeline.folder)
      let staged = try pipeline.stage(limits: limits)
      #expect(throws: QueueError.pipelineFull(pipeline: "scans", limits: limits)) {
        try staged.addPart(name: "x", from: source)
      }
      #expect(try pipeline.queue.names() == ["0000000001"])
      try pipeline.remove(1)
      let again = try pipeline.stage(limits: limits)
      try again.addPart(name: "x", from: source)
      try again.addPart(name: "y", from: source)
      #expect(throws: QueueError.self) { try again.addPart(name: "z", from: source) }
    }
  }

  @Test func `the reserve of the disk is not given away`() throws {
    try withPipeline { pipeline in
      expectReserve { () throws(QueueError) in _ = try pipeline.stage(limits: QueueLimits(freeBytes: .max)) }
      expectReserve { () throws(QueueError) in _ = try pipeline.stage(limits: QueueLimits(freeInodes: .max - 1)) }
      let left = try pipeline.queue.spaceLeft().bytes
      let staged = try pipeline.stage(limits: QueueLimits(freeBytes: left / 2))
      let huge = try pipeline.folder.createFile("huge")
      try huge.truncate(to: Int64(left / 4 * 3))
      expectReserve { () throws(QueueError) in try staged.addPart(name: "huge", from: huge) }
    }
  }

  private func expectReserve(_ body: () throws(QueueError) -> Void) {
    let error = #expect(throws: QueueError.self) { try body() }
    let isReserve = if case .reserve? = error { true } else { false }
    #expect(isReserve, "\(String(describing: error))")
  }

  @Test func `an artifact has at most ten thousand parts, and holds few files open`() throws {
    try withPipeline(in: "/dev/shm") { pipeline in
      let staged = try pipeline.stage()
      let source = try file("x", in: pipeline.folder)
      let open = try Directory("/proc/self/fd").names().count
      for _ in 0..<5_000 { try staged.addPart(name: "x", from: source) }
      #expect(try Directory("/proc/self/fd").names().count < open + 200)
      for _ in 0..<5_000 { try staged.addPart(name: "x", from: source) }
      _ = try staged.commit()
      #expect(try pipeline.openArtifact(1).manifest.parts.count == 10_000)
      let second = try pipeline.stage()
      for _ in 0..<10_000 { try second.addPart(name: "x", from: source) }
      #expect(throws: QueueError.tooManyParts(limit: 10_000)) { try second.addPart(name: "x", from: source) }
      #expect(try pipeline.queue.names() == ["0000000001"])
    }
  }

  @Test func `parts that could not be synced before the commit give up the artifact`() throws {
    try withPipeline { pipeline in
      let source = try file("x", in: pipeline.folder)
      FaultDoor.with([
        Fault(.syncFileSystem, on: String(pipeline.folder.path.dropLast("/pipelines/scans".count)), .fails(EIO)),
        Fault(.sync, on: pipeline.queuePath, .fails(EIO)),
      ]) {
        #expect(throws: QueueError.self) {
          let staged = try pipeline.stage()
          for _ in 0..<100 { try staged.addPart(name: "x", from: source) }
          _ = try staged.commit()
        }
      }
      #expect(try pipeline.queue.names() == [])
    }
  }
}
