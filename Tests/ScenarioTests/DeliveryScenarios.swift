// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `From submit to a receiver` {
  @Test func `parts come in order, each with an identity of its own, and the queue is empty after`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/status/200"))
    try host.start()
    try host.submit("web", "one", "two", "three")
    #expect(try eventually { try receiver.requests().count == 3 })
    let keys = try receiver.requests().map { $0["Idempotency-Key"] ?? "" }
    #expect(Set(keys).count == 3)
    #expect(try host.reaches("web", "idle"))
    #expect(eventually { host.names(in: "relay-data/pipelines/web/queue").isEmpty })
    #expect(host.stop() == .exited(0))
  }

  @Test func `what was handed over without a daemon is delivered at its start`() throws {
    let host = try Installation()
    try host.configure(
      """
      {"id": "files", "extract": {"from": "inbox"}, "load": {"target": "folder", "settings": {"directory": "out"}}}
      """)
    try host.submit("files", "hello", name: "letter.txt")
    #expect(host.names(in: "out").isEmpty)
    try host.start()
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
  }
}
