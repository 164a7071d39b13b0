// SPDX-License-Identifier: Apache-2.0
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// A real broker behind a line that breaks at each byte.
@Suite(.enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct SweepTests {
  @Test(arguments: [1, 2])
  func `cut at any byte, nothing is lost, and repeats carry the same id`(qos: Int) throws {
    let broker = try Mosquitto()
    let proxy = try Child(["python3", Repository.path("Tests/Fixtures/servers/cutting_proxy.py"), "\(broker.port)"])
    let port = try #require(Int64(proxy.line()))
    var settings = broker.settings("sweep", [("qos", .integer(Int64(qos))), ("port", .integer(port))])
    settings.set("version", "5")
    let subscriber = try Subscriber(broker, "sweep", count: 100_000)
    let host = FakeHost(settings: settings)

    #expect(proxy.ask("pass") == "ok")
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("swept")).outcome == .delivered)
    // The line is counted once its connection has ended.
    var counts: [Int] = []
    #expect(
      eventually {
        counts = proxy.ask("count").split(separator: " ").compactMap { Int($0) }
        return counts.first ?? 0 > 0
      })
    try #require(counts.count == 2)
    let rules = (0..<counts[0]).map { "up \($0)" } + (0..<counts[1]).map { "down \($0)" }
    var (unclear, delivered) = (0, 0)
    for rule in rules {
      // As long as the first, so that each byte of that conversation is cut at.
      var delivery = FakeDelivery("swept")
      delivery.deliveryID = rule.padding(toLength: delivery.deliveryID.count, withPad: "-", startingAt: 0)
      #expect(proxy.ask(rule) == "ok")
      let verdict = FakeHost(settings: settings).deliver(MQTTTarget.self, delivery)
      // The last bytes are those of a goodbye, for which nobody waits.
      #expect(verdict.outcome == .retry || verdict.outcome == .delivered, "\(rule): \(verdict)")
      if verdict.maybeDelivered { unclear += 1 }
      if verdict.outcome == .delivered { delivered += 1 }
      #expect(proxy.ask("pass") == "ok")
      if verdict.outcome != .delivered {
        #expect(FakeHost(settings: settings).deliver(MQTTTarget.self, delivery).outcome == .delivered, "\(rule)")
      }
    }
    // Only a goodbye that is cut goes unnoticed. Before the greeting is through there is no message to be unclear about.
    #expect(delivered <= 3, "\(delivered) of \(rules.count)")
    #expect(unclear > 0 && unclear < rules.count - 40, "\(unclear) of \(rules.count)")
    #expect(
      try eventually(within: 30) {
        try Set(subscriber.soFar().compactMap { $0.user("delivery-id") }).count == rules.count + 1
      })
    let payloads = Dictionary(grouping: try subscriber.soFar(), by: { $0.user("delivery-id") ?? "" })
    #expect(payloads.values.allSatisfy { Set($0.map(\.payload)).count == 1 })
    print(
      "MQTT: QoS \(qos): \(rules.count) cuts, \(unclear) unclear, \(payloads.values.count { $0.count > 1 }) came twice")
  }
}
