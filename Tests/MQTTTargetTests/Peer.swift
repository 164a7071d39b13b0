// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKitTesting
import TestPrograms
import Testing

/// A running mqtt_peer.py.
final class Peer: Sendable {
  struct Packet: Decodable {
    let connection: Int
    let packet: String
    let level: Int?
    let clean: Bool?
    let keepAlive: Int?
    let clientId: String?
    let username: String?
    let password: String?
    let topic: String?
    let qos: Int?
    let retain: Bool?
    let mid: Int?
    let length: Int?
    let payload: String?
    let properties: [[String]]?
  }

  let port: Int
  private let child: Child
  private let record: String

  /// `rule` is JSON as mqtt_peer.py wants it.
  init(_ rule: String = "{}") throws {
    record = TemporaryFolder.shared.path("mqtt-peer-\(UUID().uuidString).ndjson")
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/mqtt_peer.py"), record])
    port = try #require(Int(child.line()))
    obey(rule)
  }

  deinit { unlink(record) }

  func obey(_ rule: String) { #expect(child.ask(rule) == "ok") }

  func packets(_ name: String) throws -> [Packet] {
    try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
      .map { try JSONDecoder().decode(Packet.self, from: Data($0.utf8)) }
      .filter { $0.packet == name }
  }

  func settings(_ more: [(String, FakeValue)] = []) -> FakeValue {
    var settings: FakeValue = ["host": "127.0.0.1", "port": .integer(Int64(port)), "topic": "a/b"]
    for (name, value) in more { settings.set(name, value) }
    return settings
  }
}
