// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import RelayTestSupport
import Testing

@Suite struct `The way to a newer format` {
  /// Two steps as they may come: one renames a file in each pipeline, one writes a new file from two old ones.
  private static let renames: StateFormat.Migration = { root throws(SystemError) in
    let pipelines = try root.folder("pipelines")
    for id in try pipelines.names() {
      let folder = try pipelines.folder(id)
      do throws(SystemError) {
        try folder.rename("marks", to: folder, as: "progress", exclusive: true)
      } catch {
        // Done before the crash.
        guard error.isMissing else { throw error }
      }
    }
  }
  private static let gathers: StateFormat.Migration = { root throws(SystemError) in
    let pipelines = try root.folder("pipelines")
    for id in try pipelines.names() {
      let folder = try pipelines.folder(id)
      guard let progress = try folder.content(of: "progress") else { continue }
      try folder.replace("summary", with: Array(id.utf8) + progress.prefix(8))
    }
  }
  private static let newest = StateFormat(migrations: [renames, gathers])

  private func prepare(_ path: String) throws -> [String: [UInt8]] {
    let state = try StateFolder.open(path)
    for id in ["a", "b"] {
      try submit(["one", "two"], to: try state.pipeline(id))
      try state.pipeline(id).marks.write(MarkRecord())
    }
    return try files(below: state.root)
  }

  private func isWhole(_ path: String, _ before: [String: [UInt8]]) throws {
    let after = try files(below: try Directory(path))
    #expect(after["/format"] == Array("3\n".utf8))
    for id in ["a", "b"] {
      let home = "/pipelines/\(id)/"
      #expect(after[home + "progress"] == before[home + "marks"] && after[home + "marks"] == nil)
      #expect(after[home + "summary"] == Array(id.utf8) + Array("RELAYMK1".utf8))
    }
    let others = { (all: [String: [UInt8]]) in all.filter { $0.key.contains("/queue/") } }
    #expect(others(after) == others(before))
  }

  @Test func `is gone step by step by the next start`() throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      let before = try prepare(path)
      _ = try StateFolder.open(path, format: Self.newest)
      try isWhole(path, before)
    }
  }

  @Test func `is gone to its end after a crash at any call of any step`() throws {
    var cuts = 0
    for calls in 0..<400 {
      let isLast = try withFolder(in: "/dev/shm") { folder in
        let path = folder.path + "/state"
        let before = try prepare(path)
        let isCut = FaultDoor.with([Fault(nil, on: path, .fails(EIO), after: calls)]) {
          (try? StateFolder.open(path, format: Self.newest)) == nil
        }
        if isCut { cuts += 1 }
        // Halfway, too, it is nobody's who knows less.
        let format = try Directory(path).content(of: "format")
        if format != Array("1\n".utf8) {
          #expect(throws: StateError.self) { try StateFolder.open(path) }
        }
        _ = try StateFolder.open(path, format: Self.newest)
        try isWhole(path, before)
        return !isCut
      }
      if isLast { break }
    }
    #expect(cuts > 25 && cuts < 399)
  }

  @Test func `has each step on the disk before its version is written`() throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      _ = try prepare(path)
      FaultDoor.with([Fault(.syncFileSystem, on: path, .fails(EIO), after: 1)]) {
        #expect(throws: StateError.self) { try StateFolder.open(path, format: Self.newest) }
      }
      #expect(try Directory(path).content(of: "format") == Array("2\n".utf8))
    }
  }

  @Test func `is not gone by who only looks or backs up`() throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      let before = try prepare(path)
      for access in [StateFolder.Access.observer, .keeper] {
        #expect(throws: StateError.olderFormat(path: path, found: 1, known: 3)) {
          try StateFolder.open(path, access: access, format: Self.newest)
        }
      }
      #expect(try files(below: try Directory(path)) == before)
    }
  }

  @Test func `is not gone back: an older program leaves a newer folder as it is`() throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      _ = try prepare(path)
      _ = try StateFolder.open(path, format: Self.newest)
      let before = try files(below: try Directory(path))
      let older = StateFormat(migrations: [Self.renames])
      #expect(throws: StateError.newerFormat(path: path, found: 3, known: 2)) {
        try StateFolder.open(path, format: older)
      }
      #expect(throws: StateError.newerFormat(path: path, found: 3, known: 1)) { try StateFolder.open(path) }
      #expect(try files(below: try Directory(path)) == before)
    }
  }

  @Test func `begins a new folder with the newest format, without any step`() throws {
    try withFolder { folder in
      let failing: StateFormat.Migration = { root throws(SystemError) in
        throw SystemError(call: .open, code: EIO, subject: root.path)
      }
      let state = try StateFolder.open(folder.path + "/state", format: StateFormat(migrations: [failing]))
      #expect(try state.root.content(of: "format") == Array("2\n".utf8))
    }
  }
}

@Suite struct `The state folder that version 1 left` {
  @Test func `is read whole: marks, what a target saved, what was set aside, the log`() throws {
    try withFolder { folder in
      let fixture = Repository.path("Tests/Fixtures/state-v1")
      try #require(try Command.run(["cp", "-R", fixture, folder.path + "/state"]).status == 0)
      let pipeline = try StateFolder.open(folder.path + "/state").pipeline("web")
      #expect(pipeline.marksFinding == .good)
      #expect(try pipeline.recover() == Recovery(sequences: [1, 3]))
      let record = pipeline.marks.current
      #expect(record.headSequence == 1 && record.headPartsDone == 1 && record.attempts == 1)
      #expect(try record.headArtifactID == pipeline.openArtifact(1).manifest.artifactID)
      for sequence: UInt64 in [1, 3] {
        let artifact = try pipeline.openArtifact(sequence)
        for part in artifact.manifest.parts { try artifact.verifyPart(part.index, try artifact.openPart(part.index)) }
      }
      let (saved, finding) = try pipeline.openTargetState()
      #expect(finding == .good)
      #expect(try saved.get(.pipeline, Array("session".utf8)) == Array("kept over versions".utf8))
      #expect(try saved.get(.delivery, Array("upload".utf8)) == Array("position 7".utf8))
      #expect(try pipeline.refused().map(\.reason?.verdict) == ["dropped"])
      #expect(try pipeline.deliveryLog.last().map(\.verdict) == ["delivered", "retry"])
      #expect(try pipeline.stateFile.load().finding == .good)
    }
  }
}
