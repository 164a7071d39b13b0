// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import MQTTTargetLogic

/// What Home Assistant reads: descriptions of sensors, kept by a real broker.
@Suite(.enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct DiscoveryTests {
  static let topic = "homeassistant/sensor/steps/weight/config"

  static func settings(_ broker: Mosquitto, _ discovery: [(String, FakeValue)] = []) -> FakeValue {
    var described: FakeValue = [
      "object": "weight", "name": "Weight", "unit": "kg", "deviceClass": "weight", "stateClass": "measurement",
      "valueTemplate": "{{ value_json.state }}",
    ]
    for (name, value) in discovery { described.set(name, value) }
    return broker.settings("health/weight", [("discovery", described), ("retain", true)])
  }

  /// How often a description came to the broker.
  static func described(_ broker: Mosquitto) -> Int {
    broker.log.components(separatedBy: "\n").count { $0.contains("Received PUBLISH") && $0.contains("/config'") }
  }

  static func kept(_ broker: Mosquitto, _ topic: String = topic) throws -> [String: Any] {
    let message = try #require(try Subscriber(broker, topic, count: 1).messages().first)
    #expect(message.retain == 1)
    let payload = Data(try #require(message.payload).utf8)
    return try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
  }

  @Test(arguments: ["5", "3.1.1"], [0, 1, 2])
  func `a sensor is described before its first value`(version: String, qos: Int) throws {
    let broker = try Mosquitto()
    var settings = Self.settings(broker)
    settings.set("version", .text(version))
    settings.set("qos", .integer(Int64(qos)))
    let subscriber = try Subscriber(broker, "#", count: 2)
    let host = FakeHost(settings: settings)
    #expect(host.deliver(MQTTTarget.self, FakeDelivery(#"{"state": "81.2"}"#)).outcome == .delivered)
    #expect(try subscriber.messages().map(\.topic) == [Self.topic, "health/weight"])
    let described = try Self.kept(broker)
    let expected: [String: String] = [
      "name": "Weight", "unique_id": "relay_host_steps_weight", "default_entity_id": "sensor.steps_weight",
      "state_topic": "health/weight", "unit_of_measurement": "kg", "device_class": "weight",
      "state_class": "measurement", "value_template": "{{ value_json.state }}",
    ]
    for (name, value) in expected { #expect(described[name] as? String == value, "\(name)") }
    #expect(Set(described.keys) == Set(expected.keys).union(["device", "origin"]))
    let device = try #require(described["device"] as? [String: Any])
    #expect(device["identifiers"] as? [String] == ["relay_host_steps"])
    #expect(device["name"] as? String == "Steps" && device["manufacturer"] as? String == "Relay Host")
    #expect(Set(device.keys) == ["identifiers", "name", "manufacturer"])
  }

  @Test func `a description goes out again only when it differs, or when the broker has lost it`() throws {
    let broker = try Mosquitto(["persistence true", "persistence_location %s/"])
    let host = FakeHost(settings: Self.settings(broker))
    let part = FakeDelivery(#"{"state": "81.2"}"#)
    let session = try host.open(MQTTTarget.self)
    for _ in 0..<3 { #expect(session.deliver(part).outcome == .delivered) }
    #expect(Self.described(broker) == 1)
    // A new worker, and a new broker with the old one's memory.
    #expect(host.deliver(MQTTTarget.self, part).outcome == .delivered)
    broker.tell("restart")
    #expect(session.deliver(part).outcome == .delivered)
    #expect(try Self.kept(broker)["name"] as? String == "Weight")
    #expect(host.deliver(MQTTTarget.self, part).outcome == .delivered)
    #expect(Self.described(broker) == 1)
    // Changed settings.
    host.settings = Self.settings(broker, [("unit", "g")])
    #expect(host.deliver(MQTTTarget.self, part).outcome == .delivered)
    #expect(Self.described(broker) == 2)
    let changed = try Self.kept(broker)
    #expect(changed["unit_of_measurement"] as? String == "g")
    #expect(changed["unique_id"] as? String == "relay_host_steps_weight")
    // A broker that forgets.
    broker.tell("stop")
    unlink("\(broker.folder)/mosquitto.db")
    broker.tell("start")
    #expect(host.deliver(MQTTTarget.self, part).outcome == .delivered)
    #expect(Self.described(broker) == 3)
    #expect(try Self.kept(broker)["unit_of_measurement"] as? String == "g")
  }

  @Test func `a broker that shows nothing of what it keeps is believed`() throws {
    // This one denies every subscription.
    let peer = try Peer()
    let host = FakeHost(settings: peer.settings([("discovery", ["object": "weight"])]))
    for _ in 0..<2 { #expect(host.deliver(MQTTTarget.self, FakeDelivery("1")).outcome == .delivered) }
    #expect(try peer.packets("PUBLISH").map(\.retain) == [true, false, false])
    #expect(try peer.packets("PUBLISH").map(\.topic) == [Self.topic, "a/b", "a/b"])
  }

  @Test func `a part is kept back while its sensor cannot be described`() throws {
    let peer = try Peer(#"{"puback": 135}"#)
    let host = FakeHost(settings: peer.settings([("discovery", ["object": "weight"])]))
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("1"))
    #expect(verdict.outcome == .needsAttention && verdict.message.contains("Home Assistant"), "\(verdict)")
    for stage in ["publish", "connack"] {
      peer.obey(#"{"at": "\#(stage)", "do": "close"}"#)
      let verdict = host.deliver(MQTTTarget.self, FakeDelivery("1"))
      #expect(verdict.outcome == .retry && !verdict.maybeDelivered, "\(verdict)")
    }
    peer.obey("{}")
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("1")).outcome == .delivered)
    #expect(try peer.packets("PUBLISH").map(\.topic).last == "a/b")
  }

  @Test func `what a template leaves empty is left out, and a test makes no sensor`() throws {
    let broker = try Mosquitto()
    let host = FakeHost(
      settings: Self.settings(broker, [("unit", ""), ("deviceClass", ""), ("name", ""), ("node", "Living-Room")]))
    var test = FakeDelivery("")
    test.isTest = true
    #expect(host.deliver(MQTTTarget.self, test).outcome == .delivered)
    #expect(Self.described(broker) == 0)
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("1")).outcome == .delivered)
    let described = try Self.kept(broker, "homeassistant/sensor/Living-Room/weight/config")
    #expect(described["name"] as? String == "weight")
    #expect(described["unit_of_measurement"] == nil && described["device_class"] == nil)
    #expect(described["default_entity_id"] as? String == "sensor.living_room_weight")
  }

  @Test(arguments: ["", "a/b", "heart rate", "größe", "a+", "#", "a\nb"])
  func `an identity that makes no topic refuses the part`(object: String) {
    let host = FakeHost(settings: SettingsTests.settings([("discovery", ["object": .text(object)])]))
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("1"))
    #expect(verdict.outcome == .refused && verdict.message.contains("discovery.object"), "\(verdict)")
  }

  @Test func `names of any kind make JSON of one line`() throws {
    let broker = try Mosquitto()
    let name = "a\"b\\c\r\n\u{0}\u{7f}\u{85}Grüße 👟"
    let host = FakeHost(
      settings: Self.settings(
        broker, [("name", .text(name)), ("device", ["name": .text(name), "model": .text(name)])]))
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("1")).outcome == .delivered)
    let described = try Self.kept(broker)
    #expect(described["name"] as? String == name)
    #expect((described["device"] as? [String: Any])?["model"] as? String == name)
  }

  @Test func `packed values are told`() {
    let host = FakeHost(settings: SettingsTests.settings([("discovery", ["object": "weight"])]))
    var packed = FakeDelivery("1")
    packed.contentEncoding = "gzip"
    #expect(host.deliver(MQTTTarget.self, packed) == MQTTFault.discoveryPacked.verdict)
  }
}
