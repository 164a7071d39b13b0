// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import MQTTTargetLogic

/// Every reason code, over the wire.
@Suite struct ReasonTests {
  /// Written down apart from the code's own tables: codes that are no retry.
  static let attention: [ReasonRule.Packet: Set<Int>] = [
    .connackOf3: [1, 2, 4, 5],
    .connackOf5: [129, 130, 132, 133, 134, 135, 138, 140, 144, 149, 153, 154, 155, 156, 157],
    .publishAnswer: [135],
    .disconnect: [135, 142, 154, 155, 156, 157],
  ]
  static let refused: [ReasonRule.Packet: Set<Int>] = [.publishAnswer: [144, 149, 153], .disconnect: [144, 149, 153]]

  static func expected(_ code: Int, _ packet: ReasonRule.Packet) -> Verdict.Outcome {
    if attention[packet]?.contains(code) == true { return .needsAttention }
    if refused[packet]?.contains(code) == true { return .refused }
    return packet == .publishAnswer && [0, 16].contains(code) ? .delivered : .retry
  }

  static func deliver(_ peer: Peer, _ more: [(String, FakeValue)] = []) -> Verdict {
    FakeHost(settings: peer.settings(more)).deliver(MQTTTarget.self, FakeDelivery("{}"))
  }

  @Test func `every CONNACK of MQTT 5 has its verdict, after one attempt`() throws {
    let peer = try Peer()
    for code in 1...255 {
      peer.obey(#"{"connack": \#(code), "words": "because of \#(code)"}"#)
      let before = try peer.packets("CONNECT").count
      let verdict = Self.deliver(peer, [("version", "5")])
      #expect(verdict.outcome == Self.expected(code, .connackOf5), "\(code): \(verdict)")
      #expect(!verdict.maybeDelivered && verdict.status == code, "\(code)")
      #expect(verdict.message.contains("because of \(code)"), "\(verdict.message)")
      #expect(try peer.packets("CONNECT").count == before + 1, "\(code)")
    }
    #expect(try peer.packets("PUBLISH").isEmpty)
  }

  @Test func `every CONNACK of MQTT 3_1_1 has its verdict, after one attempt`() throws {
    let peer = try Peer()
    for code in 1...255 {
      peer.obey(#"{"connack": \#(code)}"#)
      let before = try peer.packets("CONNECT").count
      let verdict = Self.deliver(peer, [("version", "3.1.1")])
      #expect(verdict.outcome == Self.expected(code, .connackOf3), "\(code): \(verdict)")
      #expect(verdict.status == code)
      #expect(try peer.packets("CONNECT").count == before + 1, "\(code)")
    }
  }

  @Test func `every answer to a message has its verdict`() throws {
    let peer = try Peer()
    for (answer, qos) in [("puback", 1), ("pubrec", 2), ("pubcomp", 2)] {
      for code in 0...255 {
        // Below 128 a PUBREC lets the conversation go on.
        if answer == "pubrec", code < 128 { continue }
        peer.obey(#"{"\#(answer)": \#(code), "words": "because"}"#)
        let verdict = Self.deliver(peer, [("qos", .integer(Int64(qos)))])
        #expect(verdict.outcome == Self.expected(code, .publishAnswer), "\(answer) \(code): \(verdict)")
        #expect(
          verdict.maybeDelivered == (verdict.outcome == .retry && (code < 128 || code == 146)), "\(answer) \(code)")
        // The library keeps no words of PUBREC.
        if code >= 128, answer != "pubrec" { #expect(verdict.message.contains("because"), "\(verdict.message)") }
      }
    }
  }

  @Test func `every DISCONNECT has its verdict`() throws {
    let peer = try Peer()
    for code in Array(128...162) + [0] {
      peer.obey(#"{"at": "publish", "do": "disconnect", "code": \#(code)}"#)
      let verdict = Self.deliver(peer)
      #expect(verdict.outcome == Self.expected(code, .disconnect), "\(code): \(verdict)")
      #expect(verdict.maybeDelivered == (verdict.outcome == .retry), "\(code)")
    }
  }

  @Test func `an answer of 3_1_1 counts as it is`() throws {
    let peer = try Peer(#"{"versions": [4]}"#)
    let host = FakeHost(settings: peer.settings())
    let session = try host.open(MQTTTarget.self)
    for _ in 0..<2 { #expect(session.deliver(FakeDelivery("{}")).outcome == .delivered) }
    // 5 was tried once, then 3.1.1, and the connection stayed.
    #expect(try peer.packets("CONNECT").map(\.level) == [5, 4])
    // The library always starts clean, so that no other message answers to ours.
    #expect(try peer.packets("CONNECT").allSatisfy { $0.clean == true })
    #expect(host.logged.filter { $0.line.contains("3.1.1") }.count == 1)
    // Told once, not at each start of a worker.
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("{}")).outcome == .delivered)
    #expect(host.logged.filter { $0.line.contains("3.1.1") }.count == 1)
  }

  @Test func `a broker that closes at MQTT 5 is asked with 3_1_1, unless 5 was asked for`() throws {
    let peer = try Peer(#"{"at": "connect", "do": "close", "times": 1}"#)
    #expect(Self.deliver(peer).outcome == .delivered)
    #expect(try peer.packets("CONNECT").map(\.level) == [5, 4])
    peer.obey(#"{"versions": [4]}"#)
    let verdict = Self.deliver(peer, [("version", "5")])
    #expect(verdict.outcome == .needsAttention && verdict.status == 132, "\(verdict)")
  }

  @Test func `what the broker announces is kept to`() throws {
    // Maximum Packet Size 100, Retain Available 0, Maximum QoS 0.
    let cases: [(String, [(String, FakeValue)], Verdict.Outcome, String)] = [
      ("2700000064", [], .refused, "takes 100 bytes"), ("2500", [("retain", true)], .needsAttention, "retain"),
      ("2500", [], .delivered, ""), ("2400", [], .needsAttention, "QoS 0"), ("2400", [("qos", 0)], .delivered, ""),
    ]
    for (limits, more, outcome, words) in cases {
      let peer = try Peer(#"{"limits": "\#(limits)"}"#)
      let host = FakeHost(settings: peer.settings(more))
      let verdict = host.deliver(MQTTTarget.self, FakeDelivery(String(repeating: "x", count: 90)))
      #expect(verdict.outcome == outcome, "\(limits) \(verdict)")
      #expect(words.isEmpty || verdict.message.contains(words), "\(verdict.message)")
      #expect(try peer.packets("PUBLISH").isEmpty == (outcome != .delivered))
    }
  }

  @Test func `the keep-alive leaves a large message time`() {
    #expect(Connector.keepAlive(for: 0) == 60)
    #expect(Connector.keepAlive(for: 64_000_000) == 15_625)
    #expect(Connector.keepAlive(for: .max) == 65_535)
  }
}
