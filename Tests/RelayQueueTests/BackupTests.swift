// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@Suite struct `A backup` {
  @Test func `holds all that is kept, and nothing half, and put back it is the same`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state)
      let before = try files(below: state.root)
      let manifest = try backUp(state, to: folder.path + "/backup")
      #expect(try files(below: state.root) == before)
      #expect(manifest.pipelines.map(\.id) == ["left", "scans"])
      let scans = try #require(manifest.pipelines.last)
      #expect([scans.queued, scans.refused, scans.corrupt, scans.inbox] == [3, 1, 1, 2])
      #expect(scans.leftOut == [])
      try putBack(folder.path + "/backup", into: folder.path + "/again")
      let again = try Directory(folder.path + "/again")
      let expected = before.filter { path, _ in
        (path.hasPrefix("/pipelines/") || path.hasPrefix("/templates/")) && !path.hasSuffix(".hidden")
          && !path.contains("/.")
      }
      let found = try files(below: again).filter { $0.key != "/lock" && $0.key != "/format" }
      #expect(Set(found.keys) == Set(expected.keys))
      #expect(found == expected)
      let odd: [UInt8] = [0xFF, 0x20, 0x0A, 0x22]
      #expect(
        try again.folder("pipelines").folder("scans").folder("inbox").status(ofRaw: odd)?.modified
          == 1_600_000_000_123_456_789)
      let reopened = try StateFolder.open(again.path).pipeline("scans")
      #expect(try reopened.recover().problems == [])
      #expect(reopened.marks.current.headPartsDone == 1)
      #expect(try reopened.openTargetState().state.get(.pipeline, Array("key".utf8)) == Array("value".utf8))
      #expect(try submit(["new"], to: reopened).sequence == 6)
      #expect(try again.status(of: "pipelines")?.mode == 0o700)
      #expect(try reopened.folder.status(of: "marks")?.mode == 0o600)
    }
  }

  @Test func `holds secrets only when they are asked for`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state)
      try backUp(state, to: folder.path + "/without")
      let secret = Array("s3cretvalue".utf8)
      #expect(try !files(below: try Directory(folder.path + "/without")).values.contains(secret))
      var withSecrets = options
      withSecrets.withSecrets = true
      try backUp(state, to: folder.path + "/with", withSecrets)
      try putBack(folder.path + "/with", into: folder.path + "/again")
      #expect(try Directory(folder.path + "/again/secrets").content(of: "ha") == secret)
      #expect(try Directory(folder.path + "/again/secrets").status(of: "ha")?.mode == 0o600)
      // One that a person has set before stays.
      let prepared = try Directory.ensure(folder.path + "/prepared/secrets")
      try prepared.replace("ha", with: Array("newer".utf8))
      #expect(try putBack(folder.path + "/with", into: folder.path + "/prepared") == ["secrets/ha"])
      #expect(try prepared.content(of: "ha") == Array("newer".utf8))
    }
  }

  @Test func `is written while nobody works with the folder, and changes nothing in it`() throws {
    try withFolder { folder in
      do { try fill(try StateFolder.open(folder.path + "/state")) }
      let before = try files(below: try Directory(folder.path + "/state")).filter { $0.key != "/lock" }
      let keeper = try StateFolder.open(folder.path + "/state", access: .keeper)
      #expect(throws: StateError.self) { try StateFolder.open(folder.path + "/state") }
      #expect(try backUp(keeper, to: folder.path + "/backup").artifacts == 6)
      #expect(try files(below: try Directory(folder.path + "/state")).filter { $0.key != "/lock" } == before)
    }
  }

  @Test func `needs a folder of its own`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      let place = try Directory.ensure(folder.path + "/backup")
      try place.replace("photo.jpg", with: [1])
      #expect(
        error { try backUp(state, to: place.path) } == .notEmpty(path: place.path, holds: "photo.jpg"))
      #expect(try place.names() == ["photo.jpg"])
      try place.remove("photo.jpg")
      let holder = try Directory(place.path)
      #expect(try holder.descriptor.lock())
      #expect(error { try backUp(state, to: place.path) } == .busy(path: place.path))
      #expect(try place.names() == [])
      _ = flock(holder.descriptor.number, LOCK_UN)
      try backUp(state, to: place.path)
      #expect(error { try backUp(state, to: place.path) } == .finished(path: place.path))
      try BackupReader(place).verify()
    }
  }

  @Test func `that was cut short is none, and is cleared by the next`() throws {
    try withFolder(in: "/dev/shm") { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state, parts: 12)
      let path = folder.path + "/backup"
      let place = try Directory.ensure(path)
      var calls = 0
      while calls < 5000 {
        // As if the process had been killed at that call: none that follows is done either.
        let cut = FaultDoor.with([Fault(nil, on: path, .fails(EIO), after: calls)]) {
          error { _ = try Backup.write(state, into: place, options) }
        }
        guard cut != nil else { break }
        if try place.status(of: "backup.json") != nil {
          // The last calls come after it is one.
          try BackupReader(place).verify()
          try place.remove("backup.json")
          try place.replace("backup-unfinished", with: [])
        } else {
          #expect(error { _ = try BackupReader(place) } == .notABackup(path: path))
        }
        // A coarse grid in the middle, where one file is copied like the other.
        calls += calls < 60 ? 1 : 5
      }
      #expect(calls > 150)
      for name in try place.names() { try place.removeTree(name) }
      #expect(try Backup.write(state, into: place, options).artifacts == 6)
      try BackupReader(place).verify()
    }
  }

  @Test func `that fails at one sync is either whole or makes room for the next`() throws {
    try withFolder(in: "/dev/shm") { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state, parts: 2)
      let path = folder.path + "/backup"
      var failed = 0
      for after in 0..<40 {
        let found = FaultDoor.with([
          Fault(.sync, on: path, .fails(EIO), after: after, times: 1),
          Fault(.syncFileSystem, on: path, .fails(EIO), after: after, times: 1),
        ]) { error { try backUp(state, to: path) } }
        if found != nil {
          failed += 1
          // Also when its last file stood already, and only putting that on the disk failed.
          try backUp(state, to: path)
        }
        try BackupReader(Directory(path)).verify()
        try folder.removeTree("backup")
      }
      #expect(failed > 1)
    }
  }

  @Test func `onto a full disk fails, says where, and leaves the place as it was`() throws {
    try withFolder(in: "/dev/shm") { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state, parts: 12)
      let path = folder.path + "/backup"
      for after in stride(from: 0, to: 80, by: 3) {
        let found = FaultDoor.with([Fault(.write, on: path, .fails(ENOSPC), after: after, times: 1)]) {
          error { try backUp(state, to: path) }
        }
        guard case .destination(let cause)? = found else {
          #expect(found == nil)
          try folder.removeTree("backup")
          continue
        }
        #expect(cause.isOutOfSpace && cause.subject.hasPrefix(path))
        #expect(try Directory(path).names() == [])
      }
      try backUp(state, to: path)
    }
  }

  @Test func `of what can't be read fails and names it`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state)
      let part = state.path + "/pipelines/scans/queue/0000000004/000001-part_1.txt"
      let found = FaultDoor.with([Fault(.read, on: part, .fails(EIO))]) {
        error { try backUp(state, to: folder.path + "/backup") }
      }
      guard case .source(let cause)? = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(cause.code == EIO && cause.subject == part)
      try backUp(state, to: folder.path + "/backup")
    }
  }

  @Test func `leaves out what is no file of this program, and says so`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state)
      let scans = try state.pipeline("scans")
      try scans.queue.replace("0000000009", with: [1])
      #expect(symlink("/etc/passwd", scans.queuePath + "/0000000004/link") == 0)
      let held = try scans.subfolder("inbox").createFile("growing.pdf")
      try held.write(Array("half".utf8))
      let manifest = try backUp(state, to: folder.path + "/backup")
      #expect(
        Set(manifest.pipelines.last?.leftOut ?? []) == [
          scans.queuePath + "/0000000009", scans.queuePath + "/0000000004/link",
          scans.folder.path + "/inbox/growing.pdf",
        ])
      #expect(manifest.pipelines.last?.queued == 3)
      withExtendedLifetime(held) {}
    }
  }

  @Test func `ends when nobody waits for it`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path + "/state")
      try fill(state)
      #expect(error { try backUp(state, to: folder.path + "/backup") { $0.files < 7 } } == .stopped)
      #expect(try Directory(folder.path + "/backup").names() == [])
    }
  }
}
