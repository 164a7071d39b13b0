// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// The configuration changes while the daemon runs.
@Suite struct `A changed configuration` {
  private let quick = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""

  private func problem(_ host: Installation) throws -> String? {
    try host.run("status", "--json").json?["configurationProblem"]?.string
  }

  @Test func `with mistakes leaves the former one in force, and says so until it is mended`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let web = receiver.pipeline("web", "/status/200", delivery: quick)
    try host.configure(web)
    try host.start()
    let mistaken =
      "{\"targets\": [\"targets\"], \"pipelines\": [{\"id\": \"new\", \"lod\": 1}, \(web)], \"workers\": -1}"
    let half = "{\"targets\": [\"targets\"], \"pipelines\": [\(web.prefix(60))"
    for (text, words) in [(mistaken, "4 mistakes"), (half, "pipelines.json"), ("", "pipelines.json"), ("[]", "object")]
    {
      // As an editor does that writes into the file itself.
      try File.write(text.utf8, to: host.path + "/pipelines.json")
      let isTold = try eventually(within: 10) { try problem(host)?.contains(words) == true }
      #expect(isTold, "\(text)")
      #expect(host.log.contains("The changed configuration is not used; the former one stays in force."))
      let answer = try host.run("reload")
      #expect(answer.status == 2)
      #expect(answer.problems.contains("not used"))
      #expect(try host.run("check").status == 2)
      let before = try receiver.requests().count
      try host.submit("web", "x")
      #expect(try eventually { try receiver.requests().count == before + 1 })
      #expect(try host.run("status", "new").status == 2)
    }
    #expect(host.log.contains("unknown key \\\"lod\\\""))
    try host.configure(web, receiver.pipeline("new", "/status/200", delivery: quick))
    #expect(try eventually { try problem(host) == nil })
    #expect(try host.run("reload").status == 0)
    try host.submit("new", "y")
    #expect(try host.reaches("new", "idle"))
  }

  @Test func `that is only half there yet is never in force, not even for a moment`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let old = receiver.pipeline("web", "/status/200", delivery: quick)
    try host.configure(old)
    try host.start()
    let text = "{\"pipelines\": [\(receiver.pipeline("new", "/status/200", delivery: quick)), \(old)]}"
    let file = open(host.path + "/pipelines.json", O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw CallError("open") }
    for byte in text.utf8.dropLast() {
      var byte = byte
      #expect(write(file, &byte, 1) == 1)
      if byte == UInt8(ascii: "{") {
        #expect(try host.run("reload").status == 2)
        #expect(try host.status("web")["state"]?.string == "idle")
      }
    }
    _ = write(file, "}", 1)
    close(file)
    #expect(try eventually { try host.run("status", "new").status == 0 })
  }

  @Test func `adds a pipeline, takes one away, and gives it back with everything it had`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("b", "/status/503?retry-after=3600")
    let (first, second) = (
      receiver.pipeline("a", "/status/200", delivery: quick), receiver.pipeline("b", "/script/b", delivery: quick)
    )
    try host.configure(first)
    try host.start()
    try host.configure(first, second)
    #expect(try eventually { try host.run("status", "b").status == 0 })
    try host.submit("b", "kept")
    #expect(try host.reaches("b", "waiting"))

    try host.configure(first)
    #expect(try eventually { try host.run("status", "b").status == 2 })
    #expect(host.log.contains("its folder stays until"))
    #expect(host.names(in: "relay-data/pipelines/b/queue").count == 1)
    let left = try host.run("status", "--json").json?["unconfigured"]?.array ?? []
    #expect(left.map { $0["id"]?.string } == ["b"])
    #expect(left.first?["queuedArtifacts"]?.integer == 1)
    // Nobody delivers it, and that is told to whoever only looks at the exit code.
    #expect(try host.run("status").status == 3)

    // Back again: it waits on, where it was.
    try host.configure(first, second)
    #expect(try host.reachesWhenConfigured("b", "waiting"))
    #expect(try host.status("b")["attempts"]?.integer == 1)
    try receiver.script("b", "/status/200")
    #expect(try host.run("retry", "b").status == 0)
    #expect(try host.reaches("b", "idle"))
    #expect(Set(try receiver.requests("/script/b").map(\.key)).count == 1)
    try host.submit("a", "untouched")
    #expect(try host.reaches("a", "idle"))
  }

  @Test func `without a pipeline lets it be removed for good, and coming back is a first run`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let (first, second) = (
      receiver.pipeline("a", "/status/200", delivery: quick), receiver.pipeline("b", "/status/401", delivery: quick)
    )
    try host.configure(first, second)
    try host.start()
    try host.submit("b", "lost, as a person says")
    #expect(try host.reaches("b", "needs-attention"))
    try host.configure(first)
    #expect(try eventually { try host.run("status", "b").status == 2 })
    // Not without being asked.
    #expect(try host.run("remove", "b").status == 2)
    #expect(host.names(in: "relay-data/pipelines").contains("b"))
    #expect(try host.run("remove", "b", "--yes").status == 0)
    #expect(!host.names(in: "relay-data/pipelines").contains("b"))
    try host.configure(first, receiver.pipeline("b", "/status/200", delivery: quick))
    #expect(try host.reachesWhenConfigured("b", "idle"))
    #expect(try host.deliveries("b").isEmpty)
    // A configured one begins anew at once.
    try host.submit("b", "new")
    #expect(try host.reaches("b", "idle"))
    #expect(try host.run("remove", "b", "--yes", "--json").json?["stillConfigured"]?.bool == true)
    #expect(try eventually { try host.deliveries("b").isEmpty })
    try host.submit("b", "newer")
    #expect(try host.reaches("b", "idle"))
    #expect(try receiver.requests("/status/200").map(\.body).sorted() == ["new", "newer"])
  }

  @Test func `pauses a pipeline, as the command does: either one does, over a restart, and nothing is lost`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    func configure(paused: Bool) throws {
      let pipeline = receiver.pipeline("web", "/status/200", delivery: quick)
      try host.configure(paused ? pipeline.replacing("{\"id\"", with: "{\"paused\": true, \"id\"") : pipeline)
    }
    try configure(paused: true)
    try host.start()
    try host.submit("web", "one")
    #expect(try host.status("web")["state"]?.string == "paused")
    let answer = try host.run("resume", "web")
    #expect(answer.status == 0)
    #expect(answer.output.contains("stays paused"))
    #expect(try host.run("pause", "web").status == 0)
    try configure(paused: false)
    #expect(try host.run("reload").status == 0)
    #expect(try host.status("web")["state"]?.string == "paused")
    host.killHard()
    try host.start()
    #expect(try host.status("web")["state"]?.string == "paused")
    try host.submit("web", "two")
    #expect(try receiver.requests().isEmpty)
    #expect(try host.run("resume", "web").status == 0)
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.body) == ["one", "two"])
  }

  @Test func `is read at SIGHUP and by itself, also where the file is replaced, moved away or behind a link`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    func text(_ id: String) -> String { "{\"pipelines\": [\(receiver.pipeline(id, "/status/200", delivery: quick))]}" }
    try host.write("real.json", text("one"))
    guard symlink("real.json", host.path + "/pipelines.json") == 0 else { throw CallError("symlink") }
    try host.start()
    #expect(try host.run("status", "one").status == 0)
    try host.write("real.json", text("two"))
    #expect(try eventually { try host.run("status", "two").status == 0 })

    // Gone for a while: the last good one stays.
    guard rename(host.path + "/pipelines.json", host.path + "/away") == 0 else { throw CallError("rename") }
    kill(host.pid, SIGHUP)
    #expect(eventually { host.log.contains("can't be read") })
    guard rename(host.path + "/away", host.path + "/pipelines.json") == 0 else { throw CallError("rename") }
    #expect(try eventually { try problem(host) == nil })
    #expect(try host.run("status", "two").status == 0)

    // Behind a link into another folder nothing tells but the signal (and a look now and then).
    try File.write(text("three").utf8, to: host.path + "/out/elsewhere.json")
    unlink(host.path + "/pipelines.json")
    guard symlink("out/elsewhere.json", host.path + "/pipelines.json") == 0 else { throw CallError("symlink") }
    #expect(try eventually { try host.run("status", "three").status == 0 })
    try File.write(text("four").utf8, to: host.path + "/out/elsewhere.json")
    kill(host.pid, SIGHUP)
    #expect(try eventually { try host.run("status", "four").status == 0 })
    #expect(host.log.contains("SIGHUP"))
  }

  @Test func `takes a file once that was being taken when its inbox was set up anew`() throws {
    let host = try Installation()
    func configure(_ name: String) throws {
      try host.configure(
        #"{"id": "files", "name": "\#(name)", "extract": {"from": "inbox", "directory": "in"}, "load": {"target": "folder", "#
          + #""settings": {"directory": "out", "existing": "keep-both"}}, "delivery": {"spacing": "0s"}}"#)
    }
    _ = try Directory(host.path).ensureFolder("in")
    try configure("One")
    try host.start()
    #expect(try host.shell("truncate -s 300M in/.big && printf x >>in/.big && mv in/.big in/big").status == 0)
    // While it is copied its dot name isn't there yet; the staging folder is.
    #expect(
      eventually(within: 60) { host.names(in: "relay-data/pipelines/files/queue").contains { $0.hasPrefix(".") } })
    for name in ["Two", "Three"] {
      try configure(name)
      #expect(try host.run("reload").status == 0)
    }
    #expect(try eventually(within: 120) { try host.status("files")["lastSuccess"]?.string != nil })
    #expect(try host.reaches("files", "idle", within: 60))
    #expect(host.names(in: "in").isEmpty)
    #expect(host.names(in: "out") == ["big"])
  }

  @Test func `is in force when its reload answers, also while an earlier one is being read`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("first"))
    try host.start()
    for round in 0..<40 {
      let earlier = try host.begin(["reload"])
      try host.configure(Installation.filing("round-\(round)"))
      #expect(try host.run("reload").status == 0)
      let known = try host.run("status", "round-\(round)")
      #expect(known.status == 0, "\(known)")
      #expect(earlier().status == 0)
    }
  }

  @Test func `whose pipelines are others each time leaves no descriptors, timers or memory behind`() throws {
    let host = try Installation()
    let rounds = 60
    func configure(_ round: Int) throws {
      let ids = (0..<5).map { "round-\(round)-\($0)" }
      try host.configure(ids.map { Installation.filing($0) }.joined(separator: ",\n"))
      try #require(try host.run("reload").status == 0)
      // Each is really there: what is submitted to it is delivered.
      try host.submit(ids[round % 5], "round \(round)", name: "\(round).txt")
      let isThere = eventually { host.text(of: "out/\(round).txt") == "round \(round)" }
      try #require(isThere)
    }
    try host.configure(Installation.filing("first"))
    try host.start()
    for round in 0..<10 { try configure(round) }
    let (descriptors, memory) = (ProcessTable.descriptors(host.pid), ProcessTable.residentBytes(host.pid))
    for round in 10..<rounds { try configure(round) }
    // The folders of a round, and those that a look at the status opens for a moment, come and go; each kept would be 16.
    let isSame = eventually { ProcessTable.descriptors(host.pid) <= descriptors + 32 }
    #expect(isSame, "\(descriptors) before, \(ProcessTable.descriptors(host.pid)) after")
    #expect(Sanitizer.isOn || ProcessTable.residentBytes(host.pid) - memory < 8 << 20)
  }
}

extension Installation {
  /// As `reaches`, for a pipeline that the daemon may not know yet.
  func reachesWhenConfigured(_ pipeline: String, _ state: String) throws -> Bool {
    try eventually(within: 20) {
      let all = try run("status", "--json").json?["pipelines"]?.array ?? []
      return all.first { $0["id"]?.string == pipeline }?["state"]?.string == state
    }
  }
}

extension String {
  /// The first place of a text replaced.
  func replacing(_ old: String, with new: String) -> String {
    guard let range = ranges(of: old).first else { return self }
    return self[..<range.lowerBound] + new + self[range.upperBound...]
  }

  @Test func `of many pipelines asks a few destinations at a time, and all of them`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(Installation.filing("files"))
    try host.start()
    let many = (1...24).map { receiver.pipeline("web-\($0)", "/status/200/\($0)") }.joined(separator: ",\n")
    try host.configure(many)
    #expect(try host.run("reload").status == 0)
    var most = 0
    let isDone = eventually(within: 60) {
      most = max(most, ProcessTable.workers(of: host.pid).count)
      return host.log.split(separator: "\n").count { $0.contains("The destination answers.") } == 24
    }
    // None where they come and go between two looks.
    #expect(isDone && most <= 4, "\(most) workers at once; \(host.log.suffix(2000))")
  }

  @Test func `can't move the state folder away under the daemon`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    try host.configure(Installation.filing("files"), top: #""state": "elsewhere""#)
    #expect(eventually { host.log.contains("names another state folder") })
    #expect(host.log.contains("only a restart can change that"))
    #expect(!host.names(in: ".").contains("elsewhere"))
    // The pipeline goes on where it was.
    try host.configure(Installation.filing("files"))
    #expect(try host.run("reload").status == 0)
    try host.submit("files", "hello", name: "letter.txt")
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
  }
}
