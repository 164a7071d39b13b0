// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// How long a failure is waited for, observed at the receiver.
@Suite struct `Waiting after a failure` {
  @Test func `doubles from retryFirst to retryMax, within a tenth, and the key stays the same`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      receiver.pipeline(
        "web", "/status/503", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"400ms\", \"retryMax\": \"1600ms\""))
    try host.start()
    try host.submit("web", "x")
    #expect(try eventually(within: 30) { try receiver.requests().count >= 5 })
    let requests = try receiver.requests().prefix(5)
    let gaps = zip(requests, requests.dropFirst()).map { $1.at - $0.at }
    for (gap, wait) in zip(gaps, [400, 800, 1600, 1600] as [Int64]) {
      // Above the wait there is the time that it takes to start a worker and to connect.
      #expect(gap >= wait * 9 / 10 && gap <= wait * 11 / 10 + 1500, "\(gap) ms instead of \(wait)")
    }
    #expect(Set(requests.map(\.key)).count == 1)
    #expect(Set(requests.map(\.sha256)).count == 1)
    #expect(try host.status("web")["attempts"]?.integer ?? 0 >= 4)
    let deliveries = try host.deliveries("web")
    #expect(deliveries.prefix(4).map { $0["attempt"]?.integer } == [1, 2, 3, 4])
    #expect(deliveries.allSatisfy { $0["verdict"]?.string == "retry" && $0["status"]?.integer == 503 })
  }

  @Test func `honours what the receiver asks for, and a success resets the backoff`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/status/503?retry-after=2", "/status/503", "/status/200", "/status/503", "/status/200")
    try host.configure(
      receiver.pipeline("web", "/script/web", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""))
    try host.start()
    try host.submit("web", "one", "two")
    #expect(try host.reaches("web", "idle", within: 30))
    let requests = try receiver.requests()
    #expect(requests.map(\.body) == ["one", "one", "one", "two", "two"])
    let gaps = zip(requests, requests.dropFirst()).map { $1.at - $0.at }
    #expect(gaps.first ?? 0 >= 2000 && gaps.first ?? 0 < 5000)
    let deliveries = try host.deliveries("web")
    #expect(deliveries.map { $0["attempt"]?.integer } == [1, 2, 3, 1, 2])
    #expect(try host.status("web")["attempts"]?.integer == 0)
  }

  @Test func `survives a crash: no attempt before its time, and the count goes on`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    // Two starts must fit in.
    let wait = Sanitizer.isOn ? 20 : 4
    try host.configure(
      receiver.pipeline("web", "/status/503", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"\(wait)s\""))
    try host.start()
    try host.submit("web", "x")
    #expect(try host.reaches("web", "waiting"))
    for _ in 1...2 {
      host.killHard()
      try host.start()
      let status = try host.status("web")
      #expect(status["attempts"]?.integer == 1)
      #expect(status["state"]?.string == "waiting")
      #expect(status["nextAttempt"]?.string != nil)
    }
    #expect(try eventually(within: Double(wait) * 5) { try receiver.requests().count == 2 })
    let requests = try receiver.requests()
    #expect(requests[1].at - requests[0].at >= wait * 900)
    #expect(try eventually { try host.status("web")["attempts"]?.integer == 2 })
  }

  @Test func `retry tries at once, and what a person does doesn't reset the backoff`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      receiver.pipeline("web", "/status/503", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\""))
    try host.start()
    try host.submit("web", "x")
    #expect(try host.reaches("web", "waiting"))
    #expect(try host.run("status").status == 3)
    #expect(try host.run("retry", "web").status == 0)
    #expect(try eventually { try receiver.requests().count == 2 })
    #expect(try eventually { try host.status("web")["attempts"]?.integer == 2 })
    let next = try #require(try host.status("web")["nextAttempt"]?.string.flatMap(WallTime.init))
    let wait = next.milliseconds(since: .now)
    #expect(wait > 6_000_000 && wait < 8_000_000, "two hours, within a tenth, not \(wait) ms")
  }
}
