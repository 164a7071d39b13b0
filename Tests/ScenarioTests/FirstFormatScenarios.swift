// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// `Tests/Fixtures/state-v1` is a state folder as version 0.1.0 left it when it was killed: the head's first part
/// delivered, the second refused by a receiver that was away, one more artifact behind it, one set aside, a value that a
/// target saved. It is never made anew: whatever the format becomes, this must be brought up and delivered from.
@Suite struct `A state folder of the first format` {
  private func prepared() throws -> Installation {
    let host = try Installation()
    let copied = try host.shell(
      "cp -R \(Repository.path("Tests/Fixtures/state-v1")) relay-data && chmod -R go= relay-data")
    try #require(copied.status == 0, "\(copied)")
    return host
  }

  /// The delivery ids that the manifests promise, by what the part holds.
  private func keys(_ host: Installation, _ place: String) throws -> [String: String] {
    var keys: [String: String] = [:]
    for artifact in host.names(in: "relay-data/pipelines/web/\(place)") {
      let folder = "relay-data/pipelines/web/\(place)/\(artifact)"
      let manifest = try JSONTree.parse(Array(host.text(of: folder + "/manifest.json").utf8))
      for part in manifest["parts"]?.array ?? [] {
        let file = try #require(part["file"]?.string)
        keys[host.text(of: folder + "/" + file)] = part["deliveryId"]?.string
      }
    }
    return keys
  }

  @Test func `is opened, brought up, and delivered from where it stood, with the identities it had`() throws {
    let host = try prepared()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/status/200"))
    let queued = try keys(host, "queue")
    let refused = try keys(host, "refused")
    #expect(queued.count == 4 && refused.count == 1 && !queued.values.contains(""))
    try host.start()
    #expect(try host.run("log", "web").output.contains("503"))
    #expect(try host.run("refused", "web", "--json").json?["artifacts"]?.array?.count == 1)
    _ = try host.run("retry", "web")
    #expect(try host.reaches("web", "idle"))
    #expect(try receiver.requests().map(\.body) == ["second", "", "third"])
    #expect(try host.run("refused", "resend", "web", "0000000002").status == 0)
    #expect(try eventually { try receiver.requests().count == 4 } && host.reaches("web", "idle"))
    for request in try receiver.requests() { #expect(request.key == queued[request.body] ?? refused[request.body]) }
    #expect(host.names(in: "relay-data/pipelines/web/corrupt").isEmpty && host.queue("web").isEmpty)
    #expect(!host.names(in: "relay-data/pipelines/web").contains { $0.contains("damaged") })
    #expect(host.stop() == .exited(0))
  }

  @Test func `survives kill -9 at any moment of its first start`() throws {
    for delay in stride(from: 0, to: 300, by: 30) {
      let host = try prepared()
      let receiver = try Receiver()
      try host.configure(receiver.pipeline("web", "/status/200"))
      let time = "0.\(String(1001 + delay).dropFirst())"
      try host.shell("timeout --foreground -s KILL \(time) $relay --config $config")
      try host.start()
      _ = try host.run("retry", "web")
      #expect(try host.reaches("web", "idle"))
      let bodies = try receiver.requests().map(\.body)
      #expect(Set(bodies) == ["second", "", "third"] && bodies.count <= 4, "\(bodies)")
    }
  }
}
