// SPDX-License-Identifier: Apache-2.0
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import Synchronization
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// A real broker that says no, goes away, or talks to somebody else.
@Suite(.enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct BrokerTroubleTests {
  static func folder() throws -> String {
    let folder = TemporaryFolder.shared.path("mosquitto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  @Test func `a broker that is down is a retry, and the message arrives once it is back`() throws {
    let broker = try Mosquitto()
    broker.tell("stop")
    let session = try FakeHost(settings: broker.settings("x")).open(MQTTTarget.self)
    let verdict = session.deliver(FakeDelivery("late"))
    #expect(verdict.outcome == .retry && verdict.reason == .network && !verdict.maybeDelivered, "\(verdict)")
    broker.tell("start")
    let subscriber = try Subscriber(broker, "x", count: 1)
    #expect(session.deliver(FakeDelivery("late")).outcome == .delivered)
    #expect(try subscriber.messages().map(\.payload) == ["late"])
  }

  @Test(arguments: ["auto", "3.1.1"])
  func `a refused password stops after one attempt, and the right one is taken`(version: String) throws {
    let folder = try Self.folder()
    #expect(try Child.run(["mosquitto_passwd", "-b", "-c", "\(folder)/passwords", "ada", "swordfish"]).status == 0)
    let broker = try Mosquitto(["password_file %s/passwords"], folder: folder)
    let settings = broker.settings("x", [("version", .text(version)), ("username", "ada")])
    for password in ["wrong", nil] {
      let connections = broker.log.components(separatedBy: "Sending CONNACK").count
      let host = FakeHost(settings: settings, secrets: password.map { ["password": $0] } ?? [:])
      let verdict = host.deliver(MQTTTarget.self, FakeDelivery("x"))
      #expect(verdict.outcome == .needsAttention && verdict.reason == .credentials, "\(verdict)")
      #expect(!verdict.message.contains("wrong"))
      // Nothing comes after it: a further attempt would have been made within the same call.
      #expect(broker.log.components(separatedBy: "Sending CONNACK").count == connections + 1)
      let check = try host.open(MQTTTarget.self).check()
      #expect(check.outcome == .needsAttention && check.reason == .credentials)
    }
    let host = FakeHost(settings: settings, secrets: ["password": "swordfish"])
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered)
    // Within one machine nobody listens.
    #expect(!host.logged.contains { $0.line.contains("without encryption") })
  }

  @Test func `a topic that the user may not publish on is told with 5, and cannot be seen with 3_1_1`() throws {
    let folder = try Self.folder()
    try Self.write("topic read open\ntopic readwrite mine/#\n", to: "\(folder)/acl")
    let broker = try Mosquitto(["acl_file %s/acl"], folder: folder)
    for qos in [1, 2] {
      let host = FakeHost(settings: broker.settings("open", [("qos", .integer(Int64(qos)))]))
      let verdict = host.deliver(MQTTTarget.self, FakeDelivery("x"))
      #expect(
        verdict.outcome == .needsAttention && verdict.status == 135 && verdict.message.contains("topic"), "\(verdict)")
    }
    #expect(
      FakeHost(settings: broker.settings("mine/a")).deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered)
    let host = FakeHost(settings: broker.settings("open", [("version", "3.1.1")]))
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(
      host.logged.contains { $0.level == RelayLevel.warning && $0.line.contains("cannot say that it drops a message") })
  }

  @Test func `the broker's limit of a message is told with 5`() throws {
    let broker = try Mosquitto(["message_size_limit 1000"])
    let verdict = FakeHost(settings: broker.settings("x")).deliver(
      MQTTTarget.self, FakeDelivery(FakeSource(zeros: 2000)))
    #expect(verdict.outcome == .refused && verdict.reason == .tooLarge, "\(verdict)")
  }

  @Test func `the broker's limit of a packet is known at once with 5, and after three losses with 3_1_1`() throws {
    let broker = try Mosquitto(["max_packet_size 5000"])
    let part = FakeDelivery(FakeSource(zeros: 9000))
    let told = FakeHost(settings: broker.settings("x")).deliver(MQTTTarget.self, part)
    #expect(told.outcome == .refused && told.reason == .tooLarge && told.message.contains("5000"), "\(told)")
    let host = FakeHost(settings: broker.settings("x", [("version", "3.1.1")]))
    let session = try host.open(MQTTTarget.self)
    for _ in 0..<2 {
      let verdict = session.deliver(part)
      #expect(verdict.outcome == .retry, "\(verdict)")
    }
    // The count outlives the worker.
    let verdict = host.deliver(MQTTTarget.self, part)
    #expect(verdict.outcome == .refused && verdict.reason == .tooLarge, "\(verdict)")
    #expect(verdict.message.contains("3 times"))
    // A small one goes on the same way at once.
    #expect(session.deliver(FakeDelivery("small")).outcome == .delivered)
  }

  @Test func `losses while the broker is away are not the message's`() throws {
    let peer = try Peer(#"{"at": "publish", "do": "close"}"#)
    let host = FakeHost(settings: peer.settings([("version", "5")]))
    let session = try host.open(MQTTTarget.self)
    for _ in 0..<5 {
      peer.obey(#"{"at": "publish", "do": "close"}"#)
      // The connection that is tried after the loss finds no broker.
      host.beforeRead = { _ in peer.obey(#"{"at": "publish", "do": "close", "connack": 136}"#) }
      #expect(session.deliver(FakeDelivery("{}")).outcome == .retry)
    }
    #expect(host.deliveryState["losses"] == nil)
  }

  @Test func `a client of the same name needs attention where the broker says so`() throws {
    let peer = try Peer(#"{"at": "done", "do": "disconnect", "code": 142, "times": 1}"#)
    let session = try FakeHost(settings: peer.settings()).open(MQTTTarget.self)
    #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    #expect(try eventually { try !peer.packets("END").isEmpty })
    let verdict = session.deliver(FakeDelivery("2"))
    #expect(verdict.outcome == .needsAttention && verdict.status == 142, "\(verdict)")
    #expect(verdict.message.contains("same client id"))
  }

  @Test(arguments: ["5", "3.1.1"])
  func `a client of the same name is told where the broker just closes`(version: String) throws {
    let broker = try Mosquitto()
    let host = FakeHost(settings: broker.settings("x", [("clientId", "twin"), ("version", .text(version))]))
    let session = try host.open(MQTTTarget.self)
    var twins: [Subscriber] = []
    for number in 1...4 {
      #expect(session.deliver(FakeDelivery("\(number)")).outcome == .delivered)
      if number < 4 { twins.append(try Subscriber(broker, "y", count: 1, options: ["-i", "twin"])) }
    }
    #expect(host.logged.filter { $0.level == RelayLevel.warning && $0.line.contains("client id twin") }.count == 1)
  }

  @Test func `with 3_1_1 a connection that is thrown out though it says nothing is told`() throws {
    let peer = try Peer(#"{"at": "publish", "do": "close"}"#)
    let host = FakeHost(settings: peer.settings([("version", "3.1.1"), ("clientId", "twin")]))
    for _ in 0..<2 { #expect(host.deliver(MQTTTarget.self, FakeDelivery("{}")).outcome == .retry) }
    host.beforeRead = { _ in peer.obey(#"{"at": ["connack", "publish"], "do": "close"}"#) }
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("{}"))
    #expect(verdict.outcome == .needsAttention && verdict.message.contains("twin"), "\(verdict)")
  }

  @Test func `a run of messages survives a broker that restarts again and again`() throws {
    let broker = try Mosquitto(["persistence true", "persistence_location %s/", "max_queued_messages 0"])
    // The subscriber's session outlives the broker, so what it misses while away is kept for it.
    let subscriber = try Subscriber(
      broker, "run/#", count: 100_000, options: ["-i", "reader", "-c", "-x", "3600"], seconds: 120)
    let session = try FakeHost(settings: broker.settings("run/a")).open(MQTTTarget.self)
    // It restarts while messages are under way, not only between them.
    let restarts = Mutex(0)
    Thread.detachNewThread {
      for _ in 0..<20 {
        broker.tell("restart")
        restarts.withLock { $0 += 1 }
      }
    }
    var (attempts, unclear, number) = (0, 0, 0)
    while number < 200 || restarts.withLock({ $0 }) < 20 {
      var delivery = FakeDelivery("\(number)")
      delivery.deliveryID = "delivery-\(number)"
      #expect(
        eventually(within: 30) {
          attempts += 1
          let verdict = session.deliver(delivery)
          if verdict.maybeDelivered { unclear += 1 }
          return verdict.outcome == .delivered
        }, "message \(number)")
      number += 1
    }
    print("MQTT: \(number) messages over 20 restarts took \(attempts) attempts, \(unclear) of them unclear")
    // Repeats, the broker's as well as ours, are known by their ids.
    #expect(
      try eventually(within: 30) { try Set(subscriber.soFar().compactMap { $0.user("delivery-id") }).count == number })
  }

  @Test func `a password in the clear to another machine is warned of once`() throws {
    let peer = try Peer()
    // 127.0.0.1 in a form that does not look like it.
    let settings = peer.settings([("username", "ada"), ("host", "2130706433")])
    let host = FakeHost(settings: settings, secrets: ["password": "swordfish"])
    for _ in 0..<2 { #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered) }
    let warned = host.logged.filter { $0.level == RelayLevel.warning && $0.line.contains("without encryption") }
    #expect(warned.count == 1)
    #expect(!host.logged.contains { $0.line.contains("swordfish") })
  }

  @Test func `an unknown name is a retry`() {
    let host = FakeHost(settings: ["host": "broker.invalid", "topic": "x"])
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("x"))
    #expect(verdict.outcome == .retry && verdict.reason == .network, "\(verdict)")
    #expect(verdict.message.contains("broker.invalid"))
  }

  @Test func `a name with two kinds of addresses reaches the one that listens`() throws {
    let broker = try Mosquitto()
    let host = FakeHost(settings: ["host": "localhost", "port": .integer(Int64(broker.port)), "topic": "x"])
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("x"))
    #expect(verdict.outcome == .delivered, "\(verdict)")
  }
}

enum RelayLevel {
  static let warning: Int32 = 2
}
