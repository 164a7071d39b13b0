// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// What people do while a delivery is under way.
@Suite struct `A delivery under way` {
  private let quick = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""
  private let large = String(repeating: "0123456789abcdef", count: 512 * 1024)

  /// A pipeline in the middle of a large part, with another one behind it; of 128 pieces each takes the receiver so many
  /// milliseconds.
  private func busy(pace: Int = 200) throws -> (host: Installation, receiver: Receiver, artifact: String) {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/pace/\(pace)/200")
    try host.configure(receiver.pipeline("web", "/script/web", delivery: quick))
    try host.start()
    let artifact = try host.submit("web", large, "behind")
    #expect(try host.reaches("web", "delivering"))
    return (host, receiver, artifact)
  }

  @Test func `is given time at a SIGTERM, then cancelled: no attempt, nothing lost, and the program ends with 0`()
    throws
  {
    let (host, receiver, _) = try busy()
    let begun = monotonicSeconds()
    #expect(host.stop() == .exited(0))
    #expect(monotonicSeconds() - begun < 20)
    #expect(try receiver.requests().isEmpty)
    #expect(try host.deliveries("web").isEmpty)
    try receiver.script("web", "/status/200")
    try host.start()
    #expect(try host.reaches("web", "idle"))
    #expect(try host.deliveries("web").map { $0["attempt"]?.integer } == [1, 1])
    #expect(try receiver.requests().map(\.length) == [Int64(large.utf8.count), 6])
  }

  @Test func `is cancelled when its artifact is dropped, which is kept, and the next one goes`() throws {
    let (host, receiver, artifact) = try busy()
    try host.submit("web", "next")
    try receiver.script("web", "/status/200")
    #expect(try host.run("queue", "drop", "web", artifact).status == 0)
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.body) == ["next"])
    let refused = try host.run("refused", "web", "--json").json?["artifacts"]?.array ?? []
    #expect(refused.map { $0["artifact"]?.string } == [artifact])
    #expect(refused.first?["parts"]?.integer == 2)
  }

  @Test func `is cancelled when its pipeline is removed, and what is configured begins anew with nothing`() throws {
    let (host, receiver, _) = try busy()
    try receiver.script("web", "/status/200")
    #expect(try host.run("remove", "web", "--yes").status == 0)
    #expect(try host.reachesWhenConfigured("web", "idle"))
    try host.submit("web", "new")
    #expect(try eventually { try receiver.requests().count == 1 })
    #expect(try receiver.requests().map(\.body) == ["new"])
  }

  @Test func `ends by itself when its pipeline leaves the file, and coming back early never makes it two`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/pace/20/200")
    let (web, other) = (
      receiver.pipeline("web", "/script/web", delivery: quick),
      receiver.pipeline("other", "/status/200", delivery: quick)
    )
    try host.configure(web, other)
    try host.start()
    try host.submit("web", large, "behind")
    #expect(try host.reaches("web", "delivering"))
    // Away and back and away again, more than once, while the part is being sent.
    for pipelines in [[other], [web, other], [other], [web, other], [web]] {
      try host.write("pipelines.json", "{\"pipelines\": [\(pipelines.joined(separator: ","))]}")
      #expect(try host.run("reload").status == 0)
    }
    try host.configure(other)
    #expect(try host.run("reload").status == 0)
    #expect(try eventually { try receiver.requests("/script").count == 1 })
    // No longer in the file: the part behind it stays where it is.
    try host.submit("other", "x")
    #expect(try host.reaches("other", "idle"))
    #expect(try receiver.requests("/script").count == 1)
    #expect(host.names(in: "relay-data/pipelines/web/queue").count == 1)
    try receiver.script("web", "/status/200")
    try host.configure(web, other)
    #expect(try host.reachesWhenConfigured("web", "idle"))
    // And when it leaves for good, nothing of all that coming and going starts it again.
    try host.configure(web.replacing("{\"id\"", with: "{\"paused\": true, \"id\""), other)
    #expect(try host.run("reload").status == 0)
    try host.submit("web", "kept")
    try host.configure(other)
    #expect(try host.run("reload").status == 0)
    for number in 1...3 { try host.submit("other", "\(number)") }
    #expect(try host.reaches("other", "idle"))
    #expect(host.names(in: "relay-data/pipelines/web/queue").count == 1)
    let requests = try receiver.requests("/script")
    #expect(requests.map(\.length) == [Int64(large.utf8.count), 6])
    #expect(requests.allSatisfy { $0.active == 1 })
  }

  @Test func `is finished when its pipeline is paused, and the part behind it waits for the end of the pause`() throws {
    let (host, receiver, _) = try busy(pace: 15)
    try receiver.script("web", "/status/200")
    #expect(try host.run("pause", "web").status == 0)
    #expect(try eventually(within: 40) { try receiver.requests().count == 1 })
    #expect(try eventually { try host.status("web")["state"]?.string == "paused" })
    #expect(try host.run("queue", "web", "--json").json?["artifacts"]?.array?.first?["delivered"]?.integer == 1)
    #expect(try receiver.requests().count == 1)
    #expect(try host.run("resume", "web").status == 0)
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.length) == [Int64(large.utf8.count), 6])
  }

  @Test func `that can't be marked stops its pipeline: one repeat at most, and the others go on`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      receiver.pipeline("web", "/status/200?web", delivery: quick),
      receiver.pipeline("other", "/status/200?other", delivery: quick))
    try host.start()
    #expect(try host.reaches("web", "idle"))
    unlink(host.state + "/pipelines/web/marks")
    try host.submit("web", "one", "two")
    #expect(try host.reaches("web", "waiting"))
    #expect(try host.status("web")["trouble"]?.string?.contains("marks") == true)
    try host.submit("other", "x")
    #expect(try host.reaches("other", "idle"))
    #expect(try receiver.requests("/status/200?web").map(\.body) == ["one"])
    host.killHard()
    try host.start()
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests("/status/200?web")
    #expect(requests.map(\.body) == ["one", "one", "two"])
    #expect(requests[0].key == requests[1].key)
  }

  @Test func `a drop is answered when its pipeline leaves meanwhile, and the daemon stops at once`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let web = receiver.pipeline("web", "/wait/2000/200")
    try host.configure(web, Installation.filing("files"))
    try host.start()
    let first = try host.submit("web", "one")
    let second = try host.submit("web", "two")
    #expect(try eventually { try host.run("queue", "web", "--json").json?["artifacts"]?[0]?["sending"]?.bool == true })
    try host.configure(Installation.filing("files"))
    let drops = try [first, second].map { try host.begin(["queue", "drop", "web", $0]) }
    #expect(try host.run("reload").status == 0)
    for drop in drops {
      let answer = drop()
      // Set aside in time, or told why not.
      #expect([0, 2, 4].contains(answer.status), "\(answer)")
    }
    let begun = monotonicSeconds()
    host.stop()
    #expect(monotonicSeconds() - begun < 10)
  }

  @Test func `a drop of what is delivered in that moment says so`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/wait/1500/200"))
    try host.start()
    let artifact = try host.submit("web", "x")
    #expect(try eventually { try !receiver.requests().isEmpty })
    // It is being answered: cancelled and delivered are both right, and what is said must be what happened.
    let answer = try host.run("queue", "drop", "web", artifact, "--json")
    let isSetAside = try host.artifacts("refused", "web") == [artifact]
    #expect(answer.json?["setAside"]?.bool == isSetAside || answer.status != 0, "\(answer)")
  }
}
