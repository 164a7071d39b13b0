// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// The daemon is killed at moments that nobody chose, and nothing that was accepted may be lost, torn or out of order.
@Suite struct `Killed with -9` {
  /// What an artifact of the loop holds: two parts that name it.
  private func contents(_ number: Int) -> [String] { (1...2).map { "artifact \(number) part \($0)" } }

  private func words(_ host: Installation, _ number: Int) throws -> [String] {
    var words = ["submit", "web", "--json"]
    for (place, content) in contents(number).enumerated() {
      try host.write("\(number)-\(place)", content)
      words.append("\(host.path)/\(number)-\(place)")
    }
    return words
  }

  @Test func `leaves it to a person where one wants to decide about what may have arrived`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/wait/60000/200", "/status/200")
    try host.configure(
      receiver.pipeline("web", "/script/web", delivery: "\"spacing\": \"0s\", \"onUnsure\": \"hold\""))
    try host.start()
    try host.submit("web", "once")
    #expect(try eventually { try receiver.requests().count == 1 })
    host.killHard()
    for _ in 0..<2 {
      try host.start()
      #expect(try host.reaches("web", "needs-attention"))
      host.killHard()
    }
    try host.start()
    let status = try host.status("web")
    #expect(status["attention"]?["code"]?.string == "delivery.unsure", "\(status.text(.pretty))")
    #expect(try receiver.requests().count == 1)
    #expect(try host.run("resume", "web").status == 0)
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests()
    #expect(requests.count == 2 && Set(requests.map(\.key)).count == 1)
  }

  @Test func `loses nothing and repeats at most one part a crash, with the same key and bytes, in order`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/wait/3/200")
    try host.configure(
      receiver.pipeline("web", "/script/web", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"20ms\""))
    var accepted: Set<Int> = []
    // More than the removals that may be outstanding (32): none of them may stay behind after a crash.
    let rounds = 54
    for round in 1...rounds {
      // Every round has something to send; without a daemon `submit` is one itself for a moment.
      if try host.run(try words(host, round * 2)).status == 0 { accepted.insert(round * 2) }
      if round % 3 == 0 {
        // While it starts, recovers, or sends what it found.
        try host.launch()
        usleep(.random(in: 0...400_000))
      } else if round % 3 == 1 {
        // While files are handed over.
        try host.start()
        let answer = try host.begin(try words(host, round * 2 + 1))
        usleep(.random(in: 0...60_000))
        host.killHard()
        if answer().status == 0 { accepted.insert(round * 2 + 1) }
      } else {
        // Between the receiver's answer and the mark, or close to it.
        let before = try receiver.requests().count
        try host.launch()
        #expect(try eventually { try receiver.requests().count > before })
        usleep(.random(in: 0...8_000))
      }
      host.killHard()
    }
    #expect(accepted.count >= rounds)
    try host.start()
    #expect(try host.reaches("web", "idle", within: 30))
    let requests = try receiver.requests()
    let bodies = requests.map(\.body)
    for number in accepted { for body in contents(number) { #expect(bodies.contains(body), "lost: \(body)") } }
    // What wasn't accepted is there whole or not at all.
    for number in Set(bodies.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }) {
      for body in contents(number) { #expect(bodies.contains(body)) }
    }
    var contentOfKey: [String: String] = [:]
    for request in requests {
      #expect(!request.key.isEmpty)
      #expect(contentOfKey[request.key] ?? request.sha256 == request.sha256)
      contentOfKey[request.key] = request.sha256
    }
    // A part goes again only while it is the last one: collapsed, each key comes once, and the order is that of the queue.
    var order: [Receiver.Request] = []
    for request in requests where order.last?.key != request.key { order.append(request) }
    #expect(Set(order.map(\.key)).count == order.count)
    #expect(Set(order.map(\.body)).count == order.count)
    let numbers = order.compactMap { request in
      let words = request.body.split(separator: " ")
      return words.count == 4 ? Int(words[1]).flatMap { number in Int(words[3]).map { number * 2 + $0 } } : nil
    }
    #expect(numbers == numbers.sorted())
    #expect(requests.count - order.count <= rounds)
    #expect(eventually { host.names(in: "relay-data/pipelines/web/queue").isEmpty })
    #expect(host.names(in: "relay-data/pipelines/web/corrupt").isEmpty)
    #expect(host.names(in: "relay-data/pipelines/web/refused").isEmpty)
  }

  @Test func `in the middle of a large part, it is sent again whole with the same key, and no attempt is counted`()
    throws
  {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/pace/20/200")
    try host.configure(receiver.pipeline("web", "/script/web", delivery: "\"spacing\": \"0s\""))
    try host.start()
    let large = String(repeating: "0123456789abcdef", count: 512 * 1024)
    try host.submit("web", large)
    #expect(try host.reaches("web", "delivering"))
    // Some of it is on its way, but the receiver has a good deal to read.
    usleep(300_000)
    #expect(try receiver.requests().isEmpty)
    host.killHard()
    try receiver.script("web", "/status/200")
    try host.start()
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests()
    #expect(requests.map(\.length) == [Int64(large.utf8.count)])
    let deliveries = try host.deliveries("web")
    #expect(deliveries.map { $0["verdict"]?.string } == ["delivered"])
    #expect(deliveries.map { $0["attempt"]?.integer } == [1])
  }
}
