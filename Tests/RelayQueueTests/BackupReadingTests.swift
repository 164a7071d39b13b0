// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelayQueue
import RelaySystem
import Testing

@Suite struct `A backup that is read back` {
  /// A backup of two pipelines in a folder beside its state folder.
  private func withBackup(_ body: (Directory, Directory) throws -> Void) throws {
    try withFolder(in: "/dev/shm") { folder in
      try fill(try StateFolder.open(folder.path + "/state"), parts: 12)
      let state = try StateFolder.open(folder.path + "/state")
      var all = options
      all.withSecrets = true
      try backUp(state, to: folder.path + "/backup", all)
      try body(folder, try Directory(folder.path + "/backup"))
    }
  }

  @Test func `tells of every byte that changed, in whatever file`() throws {
    try withBackup { folder, backup in
      let all = try files(below: backup).filter { !$0.value.isEmpty }
      // One of the many that are alike is enough.
      let chosen = all.keys.filter { !$0.contains("/left/queue/") || $0.hasSuffix("manifest.json") }
      #expect(chosen.count > 15)
      for path in chosen where !path.contains("%") {
        let parts = path.split(separator: "/").map(String.init)
        var inner = backup
        for name in parts.dropLast() { inner = try inner.folder(name) }
        let name = try #require(parts.last)
        guard try inner.status(of: name) != nil else { continue }
        let bytes = try #require(all[path])
        for place in Set([0, bytes.count / 2, bytes.count - 1]) {
          var changed = bytes
          changed[place] ^= 0x20
          try inner.replace(name, with: changed, durable: false)
          let found = error { try putBack(backup.path, into: folder.path + "/again") }
          guard case .damaged(let file, _)? = found else {
            Issue.record("\(path) at \(place): \(String(describing: found))")
            continue
          }
          #expect(file == path.dropFirst())
          #expect(throws: SystemError.self) { try Directory(folder.path + "/again") }
        }
        try inner.replace(name, with: bytes, durable: false)
      }
      try BackupReader(backup).verify()
    }
  }

  @Test func `tells of what is missing, cut, or something else`() throws {
    try withBackup { _, backup in
      let home = try backup.folder("pipelines").folder("scans")
      let marks = try #require(try home.content(of: "marks"))
      try home.replace("marks", with: Array(marks.dropLast()))
      #expect(
        error { try BackupReader(backup).verify() }
          == .damaged(file: "pipelines/scans/marks", reason: "it has 16383 bytes instead of 16384"))
      try home.remove("marks")
      #expect(
        error { try BackupReader(backup).verify() }
          == .damaged(file: "pipelines/scans/marks", reason: "it is missing"))
      #expect(symlink("/etc/passwd", home.path + "/marks") == 0)
      #expect(
        error { try BackupReader(backup).verify() }
          == .damaged(file: "pipelines/scans/marks", reason: "it is no regular file"))
      try home.replace("marks", with: marks)
      try home.rename("queue", to: home, as: "moved")
      guard case .damaged? = error(of: { try BackupReader(backup).verify() }) else {
        Issue.record("a missing folder passed")
        return
      }
    }
  }

  @Test func `never leads out of its folders`() throws {
    for line in [
      #"{"folder":"pipelines/../..","name":"x","size":0,"sha256":"@"}"#,
      #"{"folder":"/etc","name":"x","size":0,"sha256":"@"}"#, #"{"folder":"","name":"x","size":0,"sha256":"@"}"#,
      #"{"folder":"pipelines","name":"..","size":0,"sha256":"@"}"#,
      #"{"folder":"pipelines","name":"a/b","size":0,"sha256":"@"}"#,
      #"{"folder":"pipelines","bytes":"2f","size":0,"sha256":"@"}"#,
      #"{"folder":"pipelines//x","name":"x","size":0,"sha256":"@"}"#,
      #"{"folder":"pipelines","name":"","size":0,"sha256":"@"}"#,
    ] {
      try withFolder { folder in
        let text = line.replacing("@", with: String(repeating: "0", count: 64))
        try writeBackup(folder, list: text + "\n")
        #expect(
          error { try BackupReader(folder).verify() }
            == .damaged(file: "files.ndjson", reason: "a line can't be understood"), "\(line)")
      }
    }
  }

  @Test func `of a newer version isn't put back, nor is one with a newer state folder`() throws {
    try withFolder { folder in
      try folder.replace("backup.json", with: Array("{\"backup\": 2}\n".utf8))
      #expect(error { _ = try BackupReader(folder) } == .newerBackup(path: folder.path, found: 2, known: 1))
    }
    try withFolder { folder in
      try writeBackup(folder, list: "", format: 2)
      let reader = try BackupReader(folder)
      #expect(
        error { _ = try Restore.run(reader, into: folder.path + "/again") }
          == .newerFormat(path: folder.path, found: 2, known: 1))
      // One step more, and it is an older one, which the next start brings up.
      let step: StateFormat.Migration = { root throws(SystemError) in try root.replace("migrated", with: []) }
      let newer = StateFormat(migrations: [step])
      _ = try Restore.run(reader, into: folder.path + "/again", format: newer)
      #expect(try Directory(folder.path + "/again").content(of: "format") == Array("2\n".utf8))
    }
  }

  /// A backup of nothing, with a list of our own.
  private func writeBackup(_ folder: Directory, list: String, format: UInt64 = 1) throws {
    try folder.replace("files.ndjson", with: Array(list.utf8))
    let digest = try SHA256Hasher.digest(of: Array(list.utf8))
    let body = """
      {"backup": 1, "program": "test", "format": \(format), "created": "2026-01-01T00:00:00Z", "secrets": false,
        "list": {"size": \(list.utf8.count), "sha256": "\(digest)"}, "pipelines": []
      """
    let check = try SHA256Hasher.digest(of: Array(body.utf8))
    try folder.replace("backup.json", with: Array("\(body),\n  \"check\": \"\(check)\"\n}\n".utf8))
  }

  @Test func `goes into an empty folder only`() throws {
    try withBackup { folder, backup in
      let path = folder.path + "/state"
      #expect(error { try putBack(backup.path, into: path) } == .stateNotEmpty(path: path, holds: "format"))
      let other = try Directory.ensure(folder.path + "/other")
      try other.replace("diary.txt", with: [1])
      #expect(
        error { try putBack(backup.path, into: other.path) }
          == .stateNotEmpty(path: other.path, holds: "diary.txt"))
      #expect(try other.names() == ["diary.txt"])
    }
  }

  @Test func `cut short at any call, leaves nothing that is taken for a state folder, and is begun again`() throws {
    try withBackup { folder, backup in
      let path = folder.path + "/again"
      let reader = try BackupReader(backup)
      var (calls, refused, whole) = (0, 0, 0)
      let expected = try files(below: try Directory(folder.path + "/state/pipelines")).filter { !$0.key.contains("/.") }
      while calls < 5000 {
        let cut = FaultDoor.with([Fault(nil, on: path, .fails(EIO), after: calls)]) {
          error { _ = try Restore.run(reader, into: path) }
        }
        switch Result(catching: { () throws(StateError) in try StateFolder.open(path, access: .observer) }) {
        case .success(let state):
          let names = try state.root.names()
          if names.contains("format") {
            whole += 1
            #expect(try files(below: try Directory(path + "/pipelines")) == expected)
          } else {
            // Nothing but what a first start leaves, too: nothing was lost, and nothing is there yet.
            #expect(!names.contains("pipelines"))
          }
        case .failure(let problem):
          refused += 1
          switch problem {
          case .system(let cause): #expect(cause.isMissing)
          case .unfinishedRestore: #expect(problem.message.contains("run `relay-host restore`"))
          default: Issue.record("\(problem)")
          }
        }
        if try (try? Directory(path))?.status(of: "format") == nil {
          _ = try Restore.run(reader, into: path)
          #expect(try files(below: try Directory(path + "/pipelines")) == expected)
        }
        do { _ = try StateFolder.open(path) }
        #expect(try !Directory(path).names().contains("restoring"))
        try folder.removeTree("again")
        guard cut != nil else { break }
        calls += calls < 40 ? 1 : 17
      }
      #expect(refused > 20 && whole > 0)
    }
  }
}
