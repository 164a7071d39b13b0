// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Receivers that break off, fall silent or talk nonsense: each gets its verdict, and gets everything once it is well.
@Suite struct `A receiver in trouble` {
  struct Trouble: Sendable {
    var id: String
    /// What the receiver does to every request until it gets well.
    var path: String
    var verdict: String
    /// What the message of that verdict holds.
    var words: String
    var status: Int64 = 0
    var isLarge = false
  }

  static let troubles = [
    Trouble(id: "reset-head", path: "/reset/head", verdict: "retry", words: ""),
    Trouble(id: "reset-body", path: "/reset/body", verdict: "retry", words: "", isLarge: true),
    Trouble(id: "reset-answer", path: "/reset/answer", verdict: "retry", words: ""),
    Trouble(id: "close-answer", path: "/close/answer", verdict: "retry", words: ""),
    Trouble(id: "garbage", path: "/garbage", verdict: "retry", words: ""),
    Trouble(id: "early-busy", path: "/early/503", verdict: "retry", words: "503", status: 503, isLarge: true),
    Trouble(id: "early-accepted", path: "/early/200", verdict: "retry", words: "200", status: 200, isLarge: true),
    Trouble(id: "frozen", path: "/freeze", verdict: "retry", words: "delivery.timeout", isLarge: true),
    Trouble(
      id: "moved", path: "/status/302?location=http://elsewhere.invalid/", verdict: "needs-attention", words: "url",
      status: 302),
    Trouble(id: "gone", path: "/status/410", verdict: "needs-attention", words: "gone", status: 410),
  ]

  private func parts(_ trouble: Trouble) -> [String] {
    ["one", "two", "three"].map { trouble.isLarge ? String(repeating: $0, count: 3_000_000) : $0 }
  }

  @Test func `is waited for, and then everything arrives in order with the same keys`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    for trouble in Self.troubles { try receiver.script(trouble.id, trouble.path) }
    try receiver.script("trickle", "/trickle", "/status/200")
    let delivery = "\"spacing\": \"0s\", \"retryFirst\": \"300ms\", \"retryMax\": \"300ms\", \"timeout\": \"1s\""
    let all = Self.troubles.map(\.id) + ["trickle"]
    let pipelines = all.map { receiver.pipeline($0, "/script/\($0)", delivery: delivery) }
    try host.write("pipelines.json", "{\"pipelines\": [\(pipelines.joined(separator: ","))]}")
    try host.start()
    for trouble in Self.troubles { try host.submit(trouble.id, parts(trouble)) }
    try host.submit("trickle", "one", "two")
    for trouble in Self.troubles {
      let isTold = try eventually(within: 30) { try host.deliveries(trouble.id).first != nil }
      let deliveries = try host.deliveries(trouble.id)
      #expect(isTold, "\(trouble.id): no verdict")
      for delivery in deliveries {
        #expect(delivery["verdict"]?.string == trouble.verdict, "\(trouble.id): \(delivery)")
        #expect(delivery["message"]?.string?.contains(trouble.words) == true, "\(trouble.id): \(delivery)")
        #expect(delivery["message"]?.string?.isEmpty == false, "\(trouble.id)")
        #expect(delivery["status"]?.integer == trouble.status, "\(trouble.id): \(delivery)")
        #expect(delivery["part"]?.integer == 1)
      }
    }
    // The head of an answer says all that matters, however long its body takes.
    #expect(try host.reaches("trickle", "idle", within: 30))
    #expect(try host.deliveries("trickle").map { $0["verdict"]?.string } == ["delivered", "delivered"])
    for trouble in Self.troubles {
      #expect(host.names(in: "relay-data/pipelines/\(trouble.id)/queue").count == 1, "\(trouble.id)")
      try receiver.script(trouble.id, "/status/200")
      if trouble.verdict == "needs-attention" {
        #expect(try host.status(trouble.id)["state"]?.string == "needs-attention")
        #expect(try host.run("resume", trouble.id).status == 0)
      }
    }
    for trouble in Self.troubles {
      #expect(try host.reaches(trouble.id, "idle", within: 30), "\(trouble.id)")
      let requests = try receiver.requests("/script/\(trouble.id)")
      let complete = requests.filter { !$0.sha256.isEmpty }.suffix(3)
      #expect(Set(complete.map(\.sha256)).count == 3, "\(trouble.id)")
      #expect(complete.map(\.length) == parts(trouble).map { Int64($0.utf8.count) }, "\(trouble.id)")
      // Whatever went before was the first part with the key that it still has.
      #expect(Set(requests.dropLast(2).map(\.key)).count == 1, "\(trouble.id)")
      #expect(Set(requests.map(\.key)).count == 3, "\(trouble.id)")
      #expect(host.names(in: "relay-data/pipelines/\(trouble.id)/refused").isEmpty)
    }
  }

  @Test func `that can't be connected to gets everything in order once it listens`() throws {
    let host = try Installation()
    // A port that was free a moment ago.
    let port = try Receiver().port
    try host.configure(
      """
      {"id": "web", "extract": {"from": "inbox"}, "delivery": {"spacing": "0s", "retryFirst": "200ms"},
       "load": {"target": "http", "settings": {"url": "http://127.0.0.1:\(port)/status/200"}}}
      """)
    try host.start()
    try host.submit("web", "one", "two")
    #expect(try host.reaches("web", "waiting"))
    // The record is on the disk a moment after the wait began.
    #expect(try eventually { try host.deliveries("web").first != nil })
    let first = try #require(try host.deliveries("web").first)
    #expect(first["verdict"]?.string == "retry")
    #expect(first["message"]?.string?.contains("127.0.0.1") == true, "\(first)")
    #expect(try host.status("web")["stuckSince"]?.string != nil)
    let receiver = try Receiver(port: port)
    #expect(try host.reaches("web", "idle", within: 30))
    #expect(try receiver.requests().map(\.body) == ["one", "two"])
    #expect(try host.status("web")["stuckSince"]?.isNull == true)
  }

  @Test func `gets one part at a time of each pipeline, however many wait`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/wait/30/200"))
    try host.start()
    for number in 1...4 { try host.submit("web", "\(number) one", "\(number) two") }
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests()
    #expect(requests.map(\.body) == (1...4).flatMap { ["\($0) one", "\($0) two"] })
    #expect(requests.allSatisfy { $0.active == 1 })
  }
}
