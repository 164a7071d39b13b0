// SPDX-License-Identifier: Apache-2.0
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

/// Messages through a real broker, read back with mosquitto_sub.
@Suite(.enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct DeliveryTests {
  let broker: Mosquitto

  init() throws { broker = try Mosquitto() }

  @Test(arguments: ["auto", "5", "3.1.1"], [0, 1, 2])
  func `a part arrives as one message, byte for byte`(version: String, qos: Int) throws {
    let subscriber = try Subscriber(broker, "steps/#", count: 1)
    let host = FakeHost(
      settings: broker.settings(
        "steps/day", [("version", .text(version)), ("qos", .integer(Int64(qos)))]))
    let text = #"{"steps": 8123, "note": "Grüße 👟"}"#
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery(text))
    #expect(verdict.outcome == .delivered, "\(verdict)")
    #expect(verdict.message.contains("does not confirm") == (qos == 0))
    #expect(verdict.bytesSent == UInt64(text.utf8.count))
    let messages = try subscriber.messages()
    #expect(messages.map(\.payload) == [text])
    #expect(messages.first?.topic == "steps/day")
    #expect(messages.first?.qos == qos)
    let says5 = version != "3.1.1"
    #expect(messages.first?.user("delivery-id") == (says5 ? FakeDelivery("").deliveryID : nil))
    #expect(messages.first?.properties?.contentType == (says5 ? "application/json" : nil))
  }

  @Test func `an empty part is an empty message`() throws {
    let subscriber = try Subscriber(broker, "empty", count: 1)
    #expect(
      FakeHost(settings: broker.settings("empty")).deliver(MQTTTarget.self, FakeDelivery("")).outcome == .delivered)
    #expect(try subscriber.messages().map(\.payloadlen) == [0])
  }

  @Test func `what is retained comes to those who subscribe later, and an empty part takes it away`() throws {
    let host = FakeHost(settings: broker.settings("kept", [("retain", true)]))
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("81.2")).outcome == .delivered)
    #expect(try Subscriber(broker, "kept", count: 1).messages().map(\.payload) == ["81.2"])
    var test = FakeDelivery("")
    test.isTest = true
    #expect(host.deliver(MQTTTarget.self, test).outcome == .delivered)
    #expect(try Subscriber(broker, "kept", count: 1).messages().map(\.payload) == ["81.2"])
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("")).outcome == .delivered)
    #expect(try Subscriber(broker, "kept", count: 1, seconds: 1).messages().isEmpty)
  }

  @Test func `a test is marked for those who listen`() throws {
    let subscriber = try Subscriber(broker, "t", count: 1)
    var test = FakeDelivery("")
    test.isTest = true
    #expect(FakeHost(settings: broker.settings("t")).deliver(MQTTTarget.self, test).outcome == .delivered)
    #expect(try subscriber.messages().first?.user("relay-test") == "1")
  }

  @Test func `one connection serves several deliveries, and no QoS 0 is left in it`() throws {
    for (qos, connections) in [(1, 1), (0, 3)] {
      let broker = try Mosquitto()
      let subscriber = try Subscriber(broker, "many", count: 3)
      let session = try FakeHost(settings: broker.settings("many", [("qos", .integer(Int64(qos)))])).open(
        MQTTTarget.self)
      for text in ["1", "2", "3"] { #expect(session.deliver(FakeDelivery(text)).outcome == .delivered) }
      #expect(try subscriber.messages().map(\.payload) == ["1", "2", "3"])
      #expect(broker.log.components(separatedBy: " as relay").count - 1 == connections)
    }
  }

  @Test func `the client id is made once, is one that every broker takes, and another one checks`() throws {
    let host = FakeHost(settings: broker.settings("id"))
    for _ in 0..<2 { #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered) }
    let saved = String(decoding: try #require(host.pipelineState["client-id"]), as: UTF8.self)
    let id = try #require(saved.split(separator: " ").first)
    #expect(id.utf8.count <= 22 && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(broker.log.components(separatedBy: " as \(id) ").count - 1 == 2)
    let verdict = try host.open(MQTTTarget.self).check()
    #expect(verdict.outcome == .delivered)
    #expect(verdict.message.contains("MQTT 5") && !verdict.message.contains(id))
    // Copied to another machine it would be somebody else's.
    let moved = try host.open { (host: TargetKit.Host) throws(Verdict) in
      try host.state(.pipeline).put("client-id", "\(id) elsewhere")
      return try MQTTTarget(host: host)
    }
    #expect(moved.deliver(FakeDelivery("x")).outcome == .delivered)
    #expect(broker.log.components(separatedBy: " as \(id) ").count - 1 == 2)
  }

  @Test func `60 MB arrive whole`() throws {
    let subscriber = try Subscriber(broker, "large", count: 1)
    let host = FakeHost(settings: broker.settings("large"))
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery(FakeSource(zeros: 60_000_000)))
    #expect(verdict.outcome == .delivered, "\(verdict)")
    #expect(host.progressed.last?.done == 60_000_000)
    #expect(try subscriber.messages().map(\.payloadlen) == [60_000_000])
  }

  @Test func `more than 64 MB is refused before connecting`() throws {
    let host = FakeHost(settings: ["host": "127.0.0.1", "port": 1, "topic": "x"])
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery(FakeSource(zeros: 64_000_001)))
    #expect(verdict.outcome == .refused)
    #expect(verdict.reason == .tooLarge)
    #expect(host.bytesRead == 0)
  }

  @Test func `damaged bytes are not sent`() throws {
    let host = FakeHost(settings: broker.settings("damaged", [("retain", true)]))
    var delivery = FakeDelivery("0123456789")
    delivery.source.isDamaged = true
    let verdict = host.deliver(MQTTTarget.self, delivery)
    #expect(verdict.outcome == .retry && verdict.reason == .source)
    #expect(try Subscriber(broker, "damaged", count: 1, seconds: 1).messages().isEmpty)
  }
}
