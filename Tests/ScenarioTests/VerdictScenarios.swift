// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// What a receiver's refusal does to an artifact, to its pipeline and to the others.
@Suite struct `A receiver that says no` {
  private let quick = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""

  @Test func `to these bytes has the artifact set aside and the next one go; it can be sent again or deleted`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/status/200", "/status/400?body=bad+field", "/status/200")
    try host.configure(receiver.pipeline("web", "/script/web", delivery: quick))
    try host.start()
    try host.run("pause", "web")
    let first = try host.submit("web", "1 one", "1 two", "1 three")
    try host.submit("web", "2 one")
    try host.run("resume", "web")
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.body) == ["1 one", "1 two", "2 one"])
    let refused = try #require(try host.run("refused", "web", "--json").json?["artifacts"]?.array)
    #expect(refused.map { $0["artifact"]?.string } == [first])
    #expect(refused.first?["status"]?.integer == 400)
    #expect(refused.first?["message"]?.string?.contains("bad field") == true)
    #expect(refused.first?["parts"]?.integer == 3)
    #expect(try host.deliveries("web").map { $0["verdict"]?.string } == ["delivered", "refused", "delivered"])

    #expect(try host.run("refused", "resend", "web", first).status == 0)
    #expect(try eventually { try receiver.requests().count == 6 })
    let requests = try receiver.requests()
    #expect(requests.suffix(3).map(\.body) == ["1 one", "1 two", "1 three"])
    #expect(requests[3].key == requests[0].key && requests[4].key == requests[1].key)
    #expect(try host.run("refused", "web", "--json").json?["artifacts"]?.array?.isEmpty == true)

    try receiver.script("web", "/status/422")
    let second = try host.submit("web", "3 one")
    #expect(eventually { host.names(in: "relay-data/pipelines/web/refused").count == 1 })
    #expect(try host.run("refused", "delete", "web", second).status == 0)
    #expect(host.names(in: "relay-data/pipelines/web/refused").isEmpty)
    #expect(try host.run("refused", "delete", "web", second).status == 2)
    #expect(try host.run("refused", "resend", "web", "nonsense").status == 2)
  }

  /// A pipeline that was stopped by a 401, with two artifacts, beside one that delivers.
  private func stopped() throws -> (Installation, Receiver) {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/status/401")
    try configure(host, receiver, header: "one")
    #expect(try host.run(["secret", "set", "key"], input: "abcdefgh-first").status == 0)
    try host.start()
    try host.submit("web", "first")
    #expect(try host.reaches("web", "needs-attention"))
    try host.submit("web", "second")
    try receiver.script("web", "/status/200")
    #expect(try host.run("status").status == 4)
    #expect(try host.status("web")["attention"]?["message"]?.string?.contains("401") == true)
    return (host, receiver)
  }

  private func configure(_ host: Installation, _ receiver: Receiver, header: String) throws {
    try host.configure(
      receiver.pipeline(
        "web", "/script/web", settings: "\"bearer\": {\"secret\": \"key\"}, \"headers\": {\"X-Try\": \"\(header)\"}",
        delivery: quick),
      receiver.pipeline("other", "/status/200", delivery: quick))
  }

  /// Everything arrives, the first artifact again with its key.
  private func expectHealed(_ host: Installation, _ receiver: Receiver) throws {
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests("/script/web").filter { $0.length > 0 }
    #expect(requests.map(\.body) == ["first", "first", "second"])
    #expect(requests.first?.key == requests.dropFirst().first?.key)
    #expect(try host.status("web")["attention"]?.isNull == true)
  }

  @Test func `to these credentials stops that pipeline alone, over a restart and a retry, until it is resumed`() throws
  {
    let (host, receiver) = try stopped()
    try host.submit("other", "x")
    #expect(try eventually { try receiver.requests("/status").count == 1 })
    #expect(try host.run("retry", "web").status == 4)
    host.killHard()
    try host.start()
    #expect(try host.status("web")["state"]?.string == "needs-attention")
    try host.submit("other", "y")
    #expect(try eventually { try receiver.requests("/status").count == 2 })
    #expect(try receiver.requests("/script").count == 1)
    #expect(try host.run("resume", "web").status == 0)
    try expectHealed(host, receiver)
  }

  @Test func `goes on when its settings are changed in the file, and not when another pipeline's are`() throws {
    let (host, receiver) = try stopped()
    try host.configure(
      receiver.pipeline(
        "web", "/script/web", settings: "\"bearer\": {\"secret\": \"key\"}, \"headers\": {\"X-Try\": \"one\"}",
        delivery: quick),
      receiver.pipeline("other", "/status/200", delivery: "\"spacing\": \"0s\""))
    #expect(try host.run("reload").status == 0)
    #expect(try host.status("web")["state"]?.string == "needs-attention")
    try configure(host, receiver, header: "two")
    try expectHealed(host, receiver)
    #expect(try receiver.requests("/script").last?["X-Try"] == "two")
  }

  @Test func `goes on when a test passes, and not when one doesn't`() throws {
    let (host, receiver) = try stopped()
    try receiver.script("web", "/status/401", "/status/200")
    #expect(try host.run("test", "web").status == 4)
    #expect(try host.status("web")["state"]?.string == "needs-attention")
    let answer = try host.run("test", "web", "--json")
    #expect(answer.status == 0)
    #expect(answer.json?["passed"]?.bool == true)
    try expectHealed(host, receiver)
  }

  @Test(arguments: [true, false])
  func `goes on when its secret is set anew, with a daemon or before its start`(isRunning: Bool) throws {
    let (host, receiver) = try stopped()
    if !isRunning { host.stop() }
    #expect(try host.run(["secret", "set", "key"], input: "abcdefgh-second\n").status == 0)
    if !isRunning { try host.start() }
    try expectHealed(host, receiver)
    let tokens = try receiver.requests("/script").map { $0["Authorization"] }
    #expect(tokens == ["Bearer abcdefgh-first", "Bearer abcdefgh-second", "Bearer abcdefgh-second"])
  }
}
