// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `Crashes cost their own pipeline only` {
  static let eager = "\"spacing\": \"0s\", \"retryFirst\": \"1ms\", \"retryMax\": \"1ms\""

  @Test func `five on one part set only its artifact aside, ten in a row need a person, and nothing is lost`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    try host.configure(
      Installation.fixture("bad", settings: "\"mode\": \"segv\"", delivery: Self.eager), Installation.filing("good"))
    try host.start()
    for name in ["one", "two", "three"] { try host.submit("bad", name) }
    #expect(try host.reaches("bad", "needs-attention"))
    let status = try host.status("bad")
    #expect(status["attention"]?["message"]?.string?.contains("10 times in a row") == true)
    #expect(status["attention"]?["message"]?.string?.contains("SIGSEGV") == true)
    #expect(host.refused("bad").count == 1)
    #expect(host.queue("bad").count == 2)
    #expect(eventually { host.deliveriesOnDisk("bad").count == 10 })
    #expect(host.deliveriesOnDisk("bad").map { $0["attempt"]?.integer ?? 0 } == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    let listed = try host.run("refused", "bad", "--json").json?["artifacts"]?.array ?? []
    #expect(listed.count == 1)
    #expect(listed.first?["message"]?.string?.contains("5 times on this part") == true)
    try host.submit("good", "fine", name: "good.txt")
    #expect(eventually { host.text(of: "out/good.txt") == "fine" })
    // A person says go on, and it is the same again: the rest is set aside, nothing is dropped.
    #expect(try host.run("resume", "bad").status == 0)
    #expect(try host.reaches("bad", "needs-attention"))
    #expect(eventually { host.deliveriesOnDisk("bad").count == 20 })
    #expect(host.refused("bad").count == 2 && host.queue("bad").count == 1)
    #expect(try host.run("resume", "bad").status == 0)
    #expect(try host.reaches("bad", "idle"))
    #expect(eventually { host.deliveriesOnDisk("bad").count == 25 })
    #expect(host.refused("bad").count == 3)
    #expect(host.queue("bad").isEmpty)
  }

  @Test func `after a thousand crashes the host has the memory and the descriptors that it had before`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    let ids = (0..<10).map { "bad-\($0)" }
    let texts = ids.map { Installation.fixture($0, settings: "\"mode\": \"abort\"", delivery: Self.eager) }
    try host.write(
      "pipelines.json", "{\"targets\": [\"targets\"], \"pipelines\": [\(texts.joined(separator: ",\n"))]}\n")
    for id in ids { try host.submit(id, "some bytes") }
    // More of the same, without a command for each: ten crashes use up one.
    try host.shell(
      """
      for id in \(ids.joined(separator: " ")); do
        cd relay-data/pipelines/$id/queue || exit 1
        for n in $(seq -w 2 30); do cp -r 0000000001 00000000$n; done
        cd \(host.path)
      done
      """)
    try host.start()
    var rounds = 0
    // Every pipeline crashes ten times and needs a person.
    let crashes = { () throws -> Int in
      if rounds > 0 {
        let resumed = try host.shell("for id in \(ids.joined(separator: " ")); do relay resume $id || exit 1; done")
        try #require(resumed.status == 0)
      }
      rounds += 1
      let isDone = try eventually(within: 30) {
        // Also none that has ended and wasn't buried yet: its descriptors are still open.
        try ids.allSatisfy { host.refused($0).count == rounds }
          && ProcessTable.children(of: host.pid).isEmpty
          && host.run("status", "--json").json?["pipelines"]?.array?.allSatisfy {
            $0["state"]?.string == "needs-attention"
          } == true
      }
      try #require(isDone)
      return 10 * ids.count
    }
    for _ in 0..<3 { _ = try crashes() }
    let before = (ProcessTable.residentBytes(host.pid), ProcessTable.descriptors(host.pid))
    var sum = 0
    while sum < 1000 { sum += try crashes() }
    let isSame = eventually { ProcessTable.descriptors(host.pid) <= before.1 }
    #expect(isSame, "\(before.1) descriptors before, \(ProcessTable.descriptors(host.pid)) after")
    let after = ProcessTable.residentBytes(host.pid)
    #expect(Sanitizer.isOn || after - before.0 < 3 << 20, "\(before.0) bytes before, \(after) after")
    for id in ids { #expect(host.refused(id).count + host.queue(id).count == 30) }
  }

  @Test func `workers die with a host that is killed, and a restart delivers at once with one worker`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("gated"), as: "libgated.so")
    try host.configure(
      Installation.fixture(
        "gated", target: "org.example.gated", settings: "\"gate\": \"\(host.path)/gate\"",
        delivery: "\"spacing\": \"0s\""
      ))
    try host.start()
    try host.submit("gated", "one")
    #expect(eventually { host.log.contains("at the gate") })
    for round in 1...3 {
      let (pid, workers) = (host.pid, ProcessTable.workers(of: host.pid))
      #expect(workers.count == 1)
      host.killHard()
      #expect(
        eventually(within: 5) { ProcessTable.workers(of: pid).isEmpty && !workers.contains(where: ProcessTable.exists) }
      )
      let start = monotonicSeconds()
      try host.start()
      let goes = eventually { host.log.split(separator: "\n").count { $0.contains("at the gate") } == round + 1 }
      #expect(goes)
      #expect(monotonicSeconds() - start < 10)
      #expect(ProcessTable.workers(of: host.pid).count == 1)
    }
    try host.write("gate", "")
    #expect(eventually { host.deliveriesOnDisk("gated").count == 1 })
    // A host that died in the middle of a send counts no attempt.
    #expect(host.deliveriesOnDisk("gated").first?["attempt"]?.integer == 1)
    #expect(eventually { host.queue("gated").isEmpty })
  }

  @Test func `two places serve ten pipelines`() throws {
    let host = try Installation()
    let ids = (0..<10).map { "files-\($0)" }
    let texts = ids.map { Installation.filing($0, settings: "\"file\": \"\($0).txt\"") }
    try host.write("pipelines.json", "{\"workers\": 2, \"pipelines\": [\(texts.joined(separator: ",\n"))]}\n")
    try host.start()
    try host.write("part.txt", "some bytes")
    #expect(
      try host.shell("for id in \(ids.joined(separator: " ")); do relay submit $id part.txt || exit 1; done").status
        == 0)
    var most = 0
    let done = eventually(within: 30) {
      most = max(most, ProcessTable.workers(of: host.pid).count)
      return ids.allSatisfy { host.text(of: "out/\($0).txt") == "some bytes" }
    }
    #expect(done)
    #expect((1...2).contains(most))
  }
}
