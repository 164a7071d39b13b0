// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization
import Testing

@Suite struct `The state folder` {
  @Test func `is made whole, for its owner only`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/a/state")
      let names = try state.root.names()
      #expect(names == ["certificates", "format", "lock", "pipelines", "secrets", "targets", "templates"])
      #expect(try state.root.content(of: "format") == Array("1\n".utf8))
      #expect(try state.root.status(of: "secrets")?.mode == 0o700)
      let pipeline = try state.pipeline("scans")
      #expect(try pipeline.folder.names() == ["corrupt", "inbox", "marks", "queue", "ready", "refused"])
      #expect(try state.pipeline("scans") === pipeline)
      #expect(try state.pipelineIDsOnDisk() == ["scans"])
    }
  }

  @Test func `has one owner at a time, and says who`() throws {
    try withFolder { folder in
      var first: StateFolder? = try StateFolder.open(folder.path)
      #expect(throws: StateError.inUse(path: folder.path, pid: Int64(getpid()))) { try StateFolder.open(folder.path) }
      _ = try StateFolder.open(folder.path, access: .observer)
      #expect(first != nil)
      first = nil
      _ = try StateFolder.open(folder.path)
    }
  }

  @Test func `has one owner also when somebody deletes the file that stands for the lock`() throws {
    try withFolder { folder in
      let first = try StateFolder.open(folder.path)
      try folder.remove("lock")
      #expect(throws: StateError.inUse(path: folder.path, pid: nil)) { try StateFolder.open(folder.path) }
      #expect(throws: StateError.inUse(path: folder.path, pid: nil)) {
        try StateFolder.open(folder.path, access: .keeper)
      }
      withExtendedLifetime(first) {}
    }
  }

  @Test func `a state that may not be what is in force is written even when it says the same`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      let pipeline = try state.pipeline("scans")
      try pipeline.stateFile.update { $0.pausedByCommand = false }
      // Something is in the way of the replacement.
      _ = try pipeline.folder.ensureFolder("pipeline.json")
      #expect(throws: StateError.self) { try pipeline.stateFile.update { $0.pausedByCommand = true } }
      try pipeline.folder.removeTree("pipeline.json")
      // As after a replacement whose last step failed: what it wrote is there all the same.
      try pipeline.folder.replace("pipeline.json", with: Array("{\"pausedByCommand\": true}".utf8))
      try pipeline.stateFile.update { $0.pausedByCommand = false }
      let bytes = try #require(try pipeline.folder.content(of: "pipeline.json"))
      #expect(!String(decoding: bytes, as: UTF8.self).contains("pausedByCommand"))
    }
  }

  @Test(arguments: ["2\n", "99999999999", "", "one", "0", "-1", "+1", "01", " 1", "18446744073709551616"])
  func `of a newer or unreadable format is not touched`(format: String) throws {
    try withFolder { folder in
      try folder.replace("format", with: Array(format.utf8))
      #expect(throws: StateError.self) { try StateFolder.open(folder.path) }
      #expect(throws: StateError.self) { try StateFolder.open(folder.path, access: .observer) }
      #expect(try folder.names() == ["format"])
    }
  }

  @Test func `is not begun in somebody else's folder, nor where the format got lost`() throws {
    try withFolder { folder in
      try folder.replace("photo.jpg", with: [])
      #expect(throws: StateError.notAStateFolder(path: folder.path, holds: "photo.jpg")) {
        try StateFolder.open(folder.path)
      }
      try folder.remove("photo.jpg")
      do { _ = try StateFolder.open(folder.path).pipeline("a") }
      try folder.remove("format")
      #expect(throws: StateError.notAStateFolder(path: folder.path, holds: "pipelines")) {
        try StateFolder.open(folder.path)
      }
    }
  }

  @Test(arguments: [SystemCall.open, .write, .sync, .rename, .makeDirectory])
  func `is begun again after a start that failed at any point`(call: SystemCall) throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      for after in 0..<30 {
        FaultDoor.with([Fault(call, on: path, .fails(ENOSPC), after: after, times: 1)]) {
          _ = try? StateFolder.open(path).pipeline("a")
        }
        _ = try StateFolder.open(path).pipeline("a")
        try folder.removeTree("state")
      }
    }
  }

  @Test func `loses a pipeline only when told to, and then whole`() throws {
    try withFolder { folder in
      do {
        let state = try StateFolder.open(folder.path)
        try submit(["x"], to: try state.pipeline("a"))
        try submit(["y"], to: try state.pipeline("b"))
        FaultDoor.with([Fault(.unlink, on: folder.path, .fails(EIO))]) {
          do { try state.removePipeline("a") } catch { Issue.record(error) }
        }
        #expect(try state.pipelineIDsOnDisk() == ["b"])
        #expect(try state.root.folder("pipelines").names().count == 2)
        try state.removePipeline("a")
        #expect(throws: StateError.badPipelineID("..")) { try state.removePipeline("..") }
      }
      let state = try StateFolder.open(folder.path)
      #expect(try state.root.folder("pipelines").names() == ["b"])
      #expect(try submit(["z"], to: try state.pipeline("a")).sequence == 1)
    }
  }

  @Test func `opens a pipeline once, however many ask for it at the same moment`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      for round in 0..<20 {
        let opened = Mutex<[PipelineFolder?]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
          let found = try? state.pipeline("scans-\(round)")
          opened.withLock { $0.append(found) }
        }
        let all = opened.withLock { $0 }
        #expect(all.count == 8 && all.allSatisfy { $0 != nil && $0 === all[0] })
      }
    }
  }

  @Test(arguments: [
    "", "-a", "A", "a/b", "..", ".a", "a.b", "ä", String(repeating: "a", count: 64), "a\0", "a b",
  ])
  func `takes no id that is no safe name`(id: String) throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path)
      #expect(throws: StateError.badPipelineID(id)) { try state.pipeline(id) }
    }
  }

  @Test func `a new pipeline that many threads want at once is made once, with marks that can be written`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      for number in 1...60 {
        let id = "p\(number)"
        let replies = (1...6).map { _ in Reply<PipelineFolder?>() }
        for reply in replies { try startThread("open") { reply.set(try? state.pipeline(id)) } }
        let found = try replies.map { try #require($0.wait()) }
        #expect(found.allSatisfy { $0 === found[0] })
        try found[0].marks.write(MarkRecord())
        if number % 3 == 0 { try state.removePipeline(id) }
      }
    }
  }

  @Test func `an observer sees and makes nothing`() throws {
    try withFolder { folder in
      do {
        let pipeline = try StateFolder.open(folder.path).pipeline("a")
        try submit(["x"], to: pipeline)
        try pipeline.marks.write(MarkRecord())
        try pipeline.folder.removeTree("ready")
      }
      let state = try StateFolder.open(folder.path, access: .observer)
      let pipeline = try state.pipeline("a")
      #expect(try pipeline.sequences() == [1])
      #expect(try pipeline.openArtifact(1).manifest.parts.count == 1)
      #expect(pipeline.marks.current.generation == 1)
      #expect(throws: CommitError.self) { try pipeline.marks.write(MarkRecord()) }
      #expect(throws: StateError.self) { try state.pipeline("b") }
      #expect(try !pipeline.folder.names().contains("ready"))
    }
  }
}

@Suite struct `What a pipeline remembers` {
  @Test func `is kept over a restart`() throws {
    try withPipeline { pipeline in
      #expect(try pipeline.stateFile.load().finding == .missing)
      let attention = PipelineState.Attention(
        code: "credentials", message: "wrong \"password\"", since: WallTime(milliseconds: 1_764_000_000_123),
        settingsFingerprint: "abc")
      try pipeline.stateFile.update {
        $0.attention = attention
        $0.pausedByCommand = true
        $0.lastSuccess = WallTime(milliseconds: 1_764_000_000_000)
      }
      let (state, finding) = try reopened(pipeline).stateFile.load()
      #expect(finding == .good)
      #expect(state.attention == attention && state.pausedByCommand)
      #expect(state.lastSuccess == WallTime(milliseconds: 1_764_000_000_000))
      try pipeline.stateFile.update { $0.attention = nil }
      #expect(try reopened(pipeline).stateFile.load().state.attention == nil)
    }
  }

  @Test func `members of a newer version survive`() throws {
    try withPipeline { pipeline in
      let text = #"{"position": {"day": 1e2, "x": [1, 2.50]}, "lastSuccess": null, "new": "ü"}"#
      try pipeline.folder.replace("pipeline.json", with: Array(text.utf8))
      try pipeline.stateFile.update { $0.pausedByCommand = true }
      let bytes = try #require(try pipeline.folder.content(of: "pipeline.json"))
      let saved = String(decoding: bytes, as: UTF8.self)
      #expect(saved.contains("1e2") && saved.contains("2.50") && saved.contains("\"new\": \"ü\""))
      let state = try reopened(pipeline).stateFile.load().state
      #expect(state["position"]?["x"]?[0]?.integer == 1 && state.pausedByCommand)
    }
  }

  @Test(arguments: ["", "{", "[]", "{\"pausedByCommand\": 1}", "{\"attention\": {\"code\": \"x\"}}", "\u{0}\u{0}"])
  func `what can't be decoded is set aside and reported`(text: String) throws {
    try withPipeline { pipeline in
      try pipeline.folder.replace("pipeline.json", with: Array(text.utf8))
      let (state, finding) = try pipeline.stateFile.load()
      #expect(state == PipelineState())
      guard case .setAside(let path) = finding else { throw CancellationError() }
      #expect(
        try pipeline.folder.content(of: String(path.dropFirst(pipeline.folder.path.count + 1))) == Array(text.utf8))
      try pipeline.stateFile.update { $0.pausedByCommand = true }
      #expect(try reopened(pipeline).stateFile.load().state.pausedByCommand)
    }
  }

  @Test func `what can't be read is not saved over`() throws {
    try withPipeline { pipeline in
      try pipeline.folder.replace("pipeline.json", with: Array("{\"pausedByCommand\": true}".utf8))
      let path = pipeline.folder.path + "/pipeline.json"
      FaultDoor.with([Fault(.open, on: path, .fails(EACCES))]) {
        #expect(throws: StateError.self) { try pipeline.stateFile.load() }
        #expect(throws: StateError.notRead(path: path)) { try pipeline.stateFile.update { $0.pausedByCommand = false } }
      }
      #expect(try pipeline.stateFile.load().state.pausedByCommand)
    }
  }

  @Test func `after a change that could not be saved the old state is in force`() throws {
    try withPipeline { pipeline in
      try pipeline.stateFile.update { $0.pausedByCommand = true }
      FaultDoor.with([Fault(.write, on: pipeline.folder.path, .fails(ENOSPC))]) {
        #expect(throws: StateError.self) { try pipeline.stateFile.update { $0.pausedByCommand = false } }
      }
      #expect(try pipeline.stateFile.load().state.pausedByCommand)
    }
  }
}
