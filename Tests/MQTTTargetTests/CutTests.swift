// SPDX-License-Identifier: Apache-2.0
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

/// A conversation that breaks off, at every point of it.
@Suite struct CutTests {
  struct Cut: CustomTestStringConvertible, Sendable {
    var at: String
    var qos: Int
    /// All of PUBLISH had left, so it may have arrived.
    var maybe: Bool

    var testDescription: String { "\(at) at QoS \(qos)" }
  }

  static let cuts = [
    Cut(at: "connect", qos: 1, maybe: false), Cut(at: "publish", qos: 1, maybe: true),
    Cut(at: "publish", qos: 2, maybe: true), Cut(at: "pubrec", qos: 2, maybe: true),
    Cut(at: "pubrel", qos: 2, maybe: true),
  ]

  @Test(arguments: cuts, ["reset", "close"])
  func `a cut is a retry that says whether it may have arrived, and the next attempt arrives`(
    cut: Cut, way: String
  ) throws {
    let peer = try Peer(#"{"at": "\#(cut.at)", "do": "\#(way)"}"#)
    let session = try FakeHost(settings: peer.settings([("qos", .integer(Int64(cut.qos)))])).open(MQTTTarget.self)
    let verdict = session.deliver(FakeDelivery("{}"))
    #expect(verdict.outcome == .retry, "\(verdict)")
    #expect(verdict.maybeDelivered == cut.maybe, "\(verdict)")
    #expect(verdict.reason == .network)
    peer.obey("{}")
    #expect(session.deliver(FakeDelivery("{}")).outcome == .delivered)
    // A new message each time, known by the id of the delivery: nothing of the broken conversation is gone on with.
    let published = try peer.packets("PUBLISH")
    #expect(Set(published.compactMap { $0.properties?.first { $0[0] == "delivery-id" }?[1] }).count == 1)
    #expect(Set(published.map(\.connection)).count == published.count)
  }

  @Test(arguments: [0, 1])
  func `a cut right after the greeting is a retry`(qos: Int) throws {
    let peer = try Peer(#"{"at": "connack", "do": "reset"}"#)
    let verdict = ReasonTests.deliver(peer, [("qos", .integer(Int64(qos)))])
    #expect(verdict.outcome == .retry, "\(verdict)")
  }

  @Test func `a cut in the middle of a message did not deliver it`() throws {
    let peer = try Peer(#"{"at": "middle", "do": "reset", "times": 1}"#)
    let host = FakeHost(settings: peer.settings())
    let session = try host.open(MQTTTarget.self)
    let verdict = session.deliver(FakeDelivery(FakeSource(zeros: 30_000_000)))
    #expect(verdict.outcome == .retry && !verdict.maybeDelivered, "\(verdict)")
    #expect(try peer.packets("PUBLISH").isEmpty)
    #expect(session.deliver(FakeDelivery(FakeSource(zeros: 30_000_000))).outcome == .delivered)
    #expect(try peer.packets("PUBLISH").map(\.length) == [30_000_000])
  }

  @Test func `a kept connection that died is not used`() throws {
    let peer = try Peer(#"{"at": "done", "do": "reset", "times": 1}"#)
    let host = FakeHost(settings: peer.settings())
    let session = try host.open(MQTTTarget.self)
    #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    #expect(try eventually { try !peer.packets("END").isEmpty })
    #expect(session.deliver(FakeDelivery("2")).outcome == .delivered)
    #expect(try peer.packets("PUBLISH").map(\.connection) == [1, 2])
  }

  @Test(
    arguments: ["connect", "connack", "publish", "pubrec"],
    [
      "00", "ffffffff7f", "d000", "f000", "20020000", "400100", "6002ffff", "30050003612f6258", "e0018e", "2003000000",
      "9003000100",
    ])
  func `garbage never traps, and never counts as delivered`(stage: String, bytes: String) throws {
    let peer = try Peer(#"{"at": "\#(stage)", "do": "\#(bytes)", "times": 1}"#)
    let host = FakeHost(settings: peer.settings([("qos", 2)]))
    host.stopWhen = Deadline.after(seconds: 3)
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("{}"))
    // Some of it is harmless where it stands; what counts as delivered was answered as MQTT wants it.
    if verdict.outcome == .delivered {
      #expect(try !peer.packets("PUBREL").isEmpty)
    } else {
      #expect([.retry, .needsAttention, .cancelled].contains(verdict.outcome), "\(verdict)")
    }
  }

  @Test func `bytes without end instead of a greeting are no greeting`() throws {
    let peer = try Peer(#"{"at": "connect", "do": "\#(String(repeating: "48545450", count: 5000))"}"#)
    let verdict = ReasonTests.deliver(peer)
    #expect(verdict.outcome == .retry, "\(verdict)")
  }

  @Test(arguments: ["connect", "publish", "pubrec", "pubrel"])
  func `silence ends within a second when the host wants it`(stage: String) throws {
    let peer = try Peer(#"{"at": "\#(stage)", "do": "silence"}"#)
    let host = FakeHost(settings: peer.settings([("qos", 2)]))
    host.stopWhen = Deadline.after(seconds: 0.5)
    let before = monotonicSeconds()
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("{}"))
    #expect(monotonicSeconds() - before < 1.5)
    #expect(
      stage == "connect" ? verdict == .cancelled : verdict.outcome == .retry && verdict.maybeDelivered, "\(verdict)")
  }

  @Test func `an address that answers nothing ends within a second when the host wants it`() throws {
    // A listener whose queue of connections is full: SYN is dropped.
    let full = try DeafListener(isFull: true)
    let host = FakeHost(settings: ["host": "127.0.0.1", "port": .integer(Int64(full.port)), "topic": "x"])
    host.stopWhen = Deadline.after(seconds: 0.5)
    let before = monotonicSeconds()
    let verdict = host.deliver(MQTTTarget.self, FakeDelivery("{}"))
    #expect(verdict == .cancelled, "\(verdict)")
    #expect(monotonicSeconds() - before < 1.5)
  }
}

enum Deadline {
  static func after(seconds: Double) -> (FakeHost) -> Bool {
    let end = monotonicSeconds() + seconds
    return { _ in monotonicSeconds() > end }
  }
}

/// A port where nobody is at home.
final class DeafListener {
  let port: Int
  private var descriptors: [Int32] = []

  /// `isFull`: it takes no more connections either, and does not say so.
  init(isFull: Bool) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptors.append(listener)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, isFull ? 0 : 8) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    try #require(code)
    port = Int(UInt16(bigEndian: address.sin_port))
    for _ in 0..<(isFull ? 3 : 0) {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      descriptors.append(client)
      _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, size) }
      }
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
