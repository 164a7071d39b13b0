// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@Suite struct `Marks on disk` {
  private func sample(_ number: UInt64) throws -> MarkRecord {
    var record = MarkRecord()
    record.completedThrough = number
    record.headSequence = number + 1
    record.headArtifactID = .random()
    record.headPartsDone = 3
    record.attempts = 4
    record.backoffStep = 5
    record.nextAttempt = WallTime(milliseconds: 6)
    record.firstAttempt = WallTime(milliseconds: -7)
    record.waitStarted = nil
    record.partMisbehaviours = 8
    record.rowMisbehaviours = 9
    record.flags = .begun
    record.stuckSince = WallTime(milliseconds: 10)
    record.pendingRemovals = (0..<64).map { .init(sequence: $0 + 1, artifactID: .random()) }
    return record
  }

  @Test func `what was written is read, by this process and the next`() throws {
    try withPipeline { pipeline in
      #expect(pipeline.marksFinding == .missing)
      #expect(pipeline.marks.current == MarkRecord())
      for number in 1...9 {
        var record = try sample(UInt64(number))
        try pipeline.marks.write(record)
        record = pipeline.marks.current
        #expect(record.completedThrough == UInt64(number) && record.generation == UInt64(number))
        let again = try reopened(pipeline)
        #expect(again.marks.current == record)
        #expect(again.marksFinding == .good)
      }
    }
  }

  @Test func `every flipped byte and every cut falls back to the record before or starts fresh`() throws {
    try withPipeline { pipeline in
      var older = MarkRecord()
      older.completedThrough = 1
      try pipeline.marks.write(older)
      older = pipeline.marks.current
      try pipeline.marks.write(try sample(2))
      let newest = pipeline.marks.current
      let good = try #require(try pipeline.folder.content(of: "marks"))
      #expect(good.count == 16384)
      // Every byte of the records, and some of what fills them up.
      for place in 0..<8192 where place % 4096 < 1700 || place % 4096 >= 4080 || place % 37 == 0 {
        var bad = good
        bad[place] ^= 1 << UInt8(place % 8)
        let found = try #require(Marks.newest(in: bad))
        #expect(found.record == (place < 4096 ? newest : older))
      }
      for length in stride(from: 0, through: good.count, by: 1) where length % 509 == 0 || length % 4096 < 2 {
        try pipeline.folder.replace("marks", with: Array(good.prefix(length)), durable: false)
        let again = try reopened(pipeline)
        switch length {
        case 8192...: #expect(again.marks.current == newest)
        case 4096...: #expect(again.marks.current == older)
        default:
          #expect(again.marks.current == MarkRecord())
          guard case .setAside(let path) = again.marksFinding else {
            Issue.record("not set aside")
            continue
          }
          let name = String(path.dropFirst(pipeline.folder.path.count + 1))
          #expect(try pipeline.folder.content(of: name) == Array(good.prefix(length)))
        }
        #expect(try pipeline.folder.content(of: "marks")?.count == good.count, "the reserve is whole again")
      }
    }
  }

  @Test func `marks that can't be read are left alone`() throws {
    try withPipeline { pipeline in
      try pipeline.marks.write(try sample(2))
      let bytes = try pipeline.folder.content(of: "marks")
      for (call, code) in [(SystemCall.open, EACCES), (.read, EIO), (.open, EMFILE)] {
        FaultDoor.with([Fault(call, on: pipeline.folder.path + "/marks", .fails(code))]) {
          #expect(throws: StateError.self) { try reopened(pipeline) }
        }
      }
      #expect(try pipeline.folder.content(of: "marks") == bytes)
      #expect(try reopened(pipeline).marks.current == pipeline.marks.current)
    }
  }

  @Test(arguments: [SystemCall.write, .sync])
  func `a failed write leaves the newest record, is never written over it, and the next one succeeds`(
    call: SystemCall
  ) throws {
    try withPipeline { pipeline in
      try pipeline.marks.write(try sample(1))
      let first = pipeline.marks.current
      for _ in 0..<7 {
        FaultDoor.with([Fault(call, on: pipeline.folder.path + "/marks", .fails(EIO))]) {
          #expect(throws: CommitError.self) { try pipeline.marks.write(try sample(2)) }
        }
        #expect(pipeline.marks.current == first)
        let bytes = try #require(try pipeline.folder.content(of: "marks"))
        #expect(MarkRecord(slot: bytes[..<4096]) == first, "the slot of the newest record is not touched")
      }
      try pipeline.marks.write(try sample(3))
      #expect(try reopened(pipeline).marks.current.completedThrough == 3)
    }
  }

  @Test func `a file that was removed takes no marks`() throws {
    try withPipeline { pipeline in
      try pipeline.folder.remove("marks")
      #expect(throws: CommitError.self) { try pipeline.marks.write(MarkRecord()) }
    }
  }

  @Test func `too many pending removals are refused, not cut`() throws {
    try withPipeline { pipeline in
      var record = try sample(1)
      record.pendingRemovals.append(.init(sequence: 100, artifactID: .random()))
      #expect(throws: CommitError.self) { try pipeline.marks.write(record) }
    }
  }

  @Test func `the reserve takes no blocks when it is written`() throws {
    try withPipeline { pipeline in
      var before = stat()
      #expect(stat(pipeline.folder.path + "/marks", &before) == 0)
      for number in 1...8 { try pipeline.marks.write(try sample(UInt64(number))) }
      var after = stat()
      #expect(stat(pipeline.folder.path + "/marks", &after) == 0)
      #expect(before.st_blocks >= 32 && after.st_blocks == before.st_blocks)
    }
  }
}

@Suite struct `Checksums` {
  @Test func `the check value of CRC-64/XZ comes out`() {
    #expect(CRC64.of(Array("123456789".utf8)[...]) == 0x995D_C9BB_DF19_39FA)
    #expect(CRC64.of([]) == 0)
  }
}
