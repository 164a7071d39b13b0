// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `The state folder belongs to one daemon` {
  @Test func `a second daemon refuses, says by whom it is in use, and hurts nothing`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    let second = try host.shell("relay")
    #expect(second.status == 4)
    #expect(second.problems.contains("is in use by process \(host.pid)"))
    #expect(second.problems.contains("state.in-use"))
    try host.submit("files", "hello", name: "letter.txt")
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
  }

  @Test func `one that a newer version wrote is left as it is`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.shell("mkdir -p relay-data/pipelines/files/queue; echo 99 > relay-data/format; touch relay-data/news")
    let before = try host.shell("find relay-data -printf '%p %i %s %T@ %C@\\n' | sort").output
    for words in [[], ["submit", "files", host.path + "/pipelines.json"], ["status"], ["pause", "files"]] {
      let answer = words.isEmpty ? try host.shell("relay") : try host.run(words)
      #expect(answer.status == 4, "\(words)")
      #expect(answer.problems.contains("newer version (format 99"), "\(words): \(answer.problems)")
    }
    #expect(try host.shell("find relay-data -printf '%p %i %s %T@ %C@\\n' | sort").output == before)
  }

  @Test func `a folder that is somebody else's is refused and left as it is`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.shell("mkdir relay-data; echo letters > relay-data/diary.txt")
    for words in [[], ["submit", "files", host.path + "/pipelines.json"]] {
      let answer = words.isEmpty ? try host.shell("relay") : try host.run(words)
      #expect(answer.status == 4, "\(words)")
      #expect(answer.problems.contains("holds diary.txt"), "\(words): \(answer.problems)")
    }
    #expect(host.names(in: "relay-data") == ["diary.txt"])
    #expect(host.text(of: "relay-data/diary.txt") == "letters\n")
  }

  @Test func `one that can't be written is told, and nothing is accepted`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    // Permissions don't stop root, so the folder is read-only as a whole; an ordinary user needs no mount for that.
    let isRoot = geteuid() == 0
    let closed = try host.shell(
      isRoot
        ? "mkdir relay-data && mount -t tmpfs -o ro,size=1m none relay-data"
        : "mkdir relay-data && chmod 500 relay-data")
    guard closed.status == 0 else {
      print("Skipped: no file system can be mounted here (\(closed.problems)).")
      return
    }
    defer { _ = try? host.shell(isRoot ? "umount relay-data" : "chmod 700 relay-data") }
    try host.write("part.txt", "x")
    for words in [[], ["submit", "files", host.path + "/part.txt"]] {
      let answer = words.isEmpty ? try host.shell("relay") : try host.run(words)
      #expect(answer.status == 4, "\(words): \(answer.problems)")
      #expect(answer.problems.contains(isRoot ? "Read-only file system" : "Permission denied"), "\(answer.problems)")
      #expect(answer.problems.contains("relay-data"), "\(answer.problems)")
    }
  }

  @Test func `looking before the first start makes no folder and keeps no daemon from starting`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    for words in [["status", "--json"], ["queue", "files"], ["log", "files"], ["refused", "files"], ["targets"]] {
      #expect(try host.run(words).status == 0, "\(words)")
    }
    #expect(!host.names(in: ".").contains("relay-data"))
    #expect(try host.run("retry", "files").status == 5)
    #expect(!host.names(in: ".").contains("relay-data"))
  }
}
