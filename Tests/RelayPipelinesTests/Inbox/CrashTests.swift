// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@testable import RelayPipelines

@Suite struct `An inbox after a crash` {
  @Test func `before the commit: the file gets its name back and is taken once`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      try FaultDoor.with([
        Fault(.sync, on: it.root + "/pipelines/scans/queue", .fails(EIO)),
        Fault(.rename, on: it.inboxPath + "/" + InboxName.takenPrefix, .fails(EIO)),
      ]) { () throws in
        it.lookTwice()
        #expect(try it.names().allSatisfy { $0.hasPrefix(InboxName.takenPrefix) })
      }
      try it.restart()
      it.look()
      #expect(try it.names() == ["x"])
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["x=bytes"])
      #expect(try it.names() == [])
    }
  }

  @Test func `between commit and removal: the file is removed and not taken again`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      FaultDoor.with([Fault(.unlink, on: it.inboxPath, .fails(EIO))]) { it.lookTwice() }
      try it.restart()
      #expect(it.lookTwice().taken == 0)
      #expect(try it.queued() == ["x=bytes"])
      #expect(try it.names() == [])
    }
  }

  @Test func `a power cut that undoes the renaming of a taken file doesn't make a second artifact`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      let status = try #require(try Directory(it.inboxPath).status(of: "x"))
      let staged = try it.pipeline.stage()
      try staged.addPart(name: "x", from: try Directory(it.inboxPath).openFile("x"))
      try TakingNote(InboxFile(name: Array("x".utf8), status: status), as: staged.artifactID)
        .write(in: it.pipeline.folder)
      _ = try staged.commit()
      try it.restart()
      #expect(it.lookTwice().taken == 0)
      #expect(try it.queued() == ["x=bytes"])
      #expect(try it.names() == [])
    }
  }

  @Test func `the same file dropped again is taken again, also after a restart`() throws {
    try withInbox { it in
      for _ in 0..<2 {
        try it.put("x", "bytes", modified: 1)
        #expect(it.lookTwice().taken == 1)
        try it.restart()
      }
      #expect(try it.queued() == ["x=bytes", "x=bytes"])
    }
  }

  @Test func `a file written to between commit and crash keeps its late bytes`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      FaultDoor.with([Fault(.unlink, on: it.inboxPath, .fails(EIO))]) { it.lookTwice() }
      let name = try #require(try it.names().first)
      #expect(append(" late", to: it.inboxPath + "/" + name))
      try it.restart()
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["x=bytes", "x=bytes late"])
    }
  }

  @Test func `a repeat that can't be ruled out has the identifier of the first`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      FaultDoor.with([Fault(.unlink, on: it.inboxPath, .fails(EIO))]) { it.lookTwice() }
      let first = try it.pipeline.openArtifact(1).manifest.artifactID
      try it.pipeline.remove(1)
      try it.restart()
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      let second = try #require(try it.pipeline.sequences().first)
      #expect(try it.pipeline.openArtifact(second).manifest.artifactID == first)
    }
  }

  @Test func `a delivered artifact that the delivery log knows isn't taken again`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      FaultDoor.with([Fault(.unlink, on: it.inboxPath, .fails(EIO))]) { it.lookTwice() }
      let artifact = try it.pipeline.openArtifact(1).manifest
      try it.pipeline.deliveryLog.append(
        DeliveryRecord(
          at: .now, artifact: artifact.artifactID.description, part: 1, deliveryID: "", attempt: 1,
          verdict: "delivered", status: 0, message: "", bytes: 5, milliseconds: 1))
      try it.pipeline.remove(1)
      try it.restart()
      #expect(it.lookTwice().taken == 0)
      #expect(try it.names() == [])
    }
  }

  @Test func `another file under the name meanwhile: both are taken`() throws {
    try withInbox { it in
      try it.put("x", "first", modified: 1)
      FaultDoor.with([
        Fault(.sync, on: it.root + "/pipelines/scans/queue", .fails(EIO)),
        Fault(.rename, on: it.inboxPath + "/" + InboxName.takenPrefix, .fails(EIO)),
      ]) { it.lookTwice() }
      try it.put("x", "second", modified: 2)
      try it.restart()
      it.look()
      #expect(it.look(after: 2000).taken == 2)
      let queued = try it.queued()
      #expect(queued.count == 2)
      #expect(queued[0].hasSuffix("-x=first"))
      #expect(queued[1] == "x=second")
    }
  }

  @Test func `a commit that the disk did not confirm is settled by a restart alone`() throws {
    try withInbox { it in
      try it.put("x", "bytes")
      // Part, manifest and their folder are synced before the queue's folder.
      FaultDoor.with([Fault(.sync, on: "\(it.root)/pipelines/scans/queue", .fails(EIO), after: 3)]) { it.lookTwice() }
      let result = it.look(after: 60_000)
      guard case .unsure = result.problem else {
        Issue.record("\(result)")
        return
      }
      #expect(try it.names().count == 1)
      try it.restart()
      it.lookTwice()
      #expect(try it.queued() == ["x=bytes"])
      #expect(try it.names() == [])
    }
  }

  @Test func `a dot name that says nothing is reported and kept`() throws {
    try withInbox { it in
      let name = InboxName.takenPrefix + "by-nobody"
      try it.put(name, "bytes")
      for _ in 0..<4 { it.look(after: 30_000) }
      #expect(it.log.count("rename it") == 1)
      #expect(it.look().trouble?.contains("rename it") == true)
      #expect(try it.names() == [name])
    }
  }

  @Test(arguments: ["scan.pdf", String(repeating: "n", count: 255)])
  func `a file whose note is lost gets its name back, and is taken under the identifier it had`(_ own: String) throws {
    try withInbox { it in
      let id = Identifier.timed(at: .now)
      try it.put(InboxName.taken(id, for: Array(own.utf8)), "bytes", 1)
      it.look()
      #expect(it.look(after: 30_000).lookAgain == 30_000)
      it.look(after: 30_000)
      // A name of full length leaves no room for both.
      let back = own.count == 255 ? id.description : own
      #expect(try it.names() == [back])
      it.lookTwice()
      #expect(try it.queued() == ["\(back)=bytes"])
      #expect(try it.pipeline.openArtifact(1).manifest.artifactID == id)
      #expect(try it.names() == [])
    }
  }

  @Test func `a file whose note is lost is removed if it was taken, unless it was written to since`() throws {
    try withInbox { it in
      try it.put("x", "bytes", modified: 1)
      it.lookTwice()
      let id = try it.pipeline.openArtifact(1).manifest.artifactID
      let name = InboxName.taken(id, for: Array("x".utf8))
      try it.pipeline.folder.remove(TakingNote.fileName)
      try it.put(name, "bytes", 1)
      try it.restart()
      for _ in 0..<3 { it.look(after: 30_000) }
      #expect(try it.names() == [] && it.queued() == ["x=bytes"])
      // Its time is that of now, after it was taken.
      try it.put(name, "more bytes")
      try it.restart()
      for _ in 0..<5 { it.look(after: 30_000) }
      #expect(try it.names() == [] && it.queued() == ["x=bytes", "x=more bytes"])
      #expect(try it.pipeline.openArtifact(2).manifest.artifactID != id)
    }
  }

  @Test(arguments: SystemCall.allCases)
  func `whichever call fails, and all of its kind after it, a restart ends with one artifact`(
    _ call: SystemCall
  ) throws {
    // The lease may fail: then it takes longer, which is tested elsewhere.
    for passed in 0..<12 where call != .lease {
      try withInbox { it in
        try it.put("x", "bytes")
        it.look()
        FaultDoor.with([Fault(call, on: it.root, .fails(EIO), after: passed)]) { _ = it.look(after: 2000) }
        let afterwards = try it.names() + it.queued()
        #expect(!afterwards.isEmpty, "\(call) \(passed)")
        try it.restart()
        for _ in 0..<3 { it.look(after: 2000) }
        #expect(try it.queued() == ["x=bytes"], "\(call) \(passed)")
        #expect(try it.names() == [], "\(call) \(passed)")
      }
    }
  }

  @Test(arguments: [SystemCall.sync, .unlink, .open, .status, .write])
  func `with the renaming gone as well, a restart ends with one artifact`(_ call: SystemCall) throws {
    for (passed, renamed) in (0..<8).flatMap({ passed in (0..<3).map { (passed, $0) } }) {
      try withInbox { it in
        try it.put("x", "bytes")
        it.look()
        let faults = [
          Fault(call, on: it.root, .fails(EIO), after: passed),
          Fault(.rename, on: it.root, .fails(EIO), after: renamed),
        ]
        FaultDoor.with(faults) { _ = it.look(after: 2000) }
        try it.restart()
        for _ in 0..<3 { it.look(after: 2000) }
        #expect(try it.queued() == ["x=bytes"], "\(call) \(passed) \(renamed)")
        #expect(try it.names() == [], "\(call) \(passed) \(renamed)")
      }
    }
  }

  @Test func `a note reads as it was written, and a damaged one is none`() throws {
    try withInbox { it in
      try it.put([0xFF, 10, 32], "x")
      let status = try #require(try Directory(it.inboxPath).status(ofRaw: [0xFF, 10, 32]))
      let note = TakingNote(InboxFile(name: [0xFF, 10, 32], status: status), as: .random())
      try note.write(in: it.pipeline.folder)
      #expect(try TakingNote.read(in: it.pipeline.folder) == note)
      let line = String(decoding: try #require(try it.pipeline.folder.content(of: TakingNote.fileName)), as: UTF8.self)
      for length in 0..<line.count { #expect(TakingNote(String(line.prefix(length))) == nil) }
      #expect(TakingNote(line.replacing("ff0a20", with: "ff2f20")) == nil)
      #expect(TakingNote(line.replacing("ff0a20", with: "ffzz20")) == nil)
    }
  }
}
