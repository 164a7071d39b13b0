// SPDX-License-Identifier: Apache-2.0
// Foundation is a second reader of what went over the wire.
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// A real broker, started by the test.
final class Mosquitto: Sendable {
  static let isInstalled = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"].contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/mosquitto")
  }

  let port: Int
  let folder: String
  private let child: Child

  /// `lines` are of mosquitto.conf; %s in them stands for the broker's folder.
  init(_ lines: [String] = [], folder: String? = nil) throws {
    // As in a worker: OpenSSL writes to sockets that the other side may have closed.
    signal(SIGPIPE, SIG_IGN)
    let folder = folder ?? TemporaryFolder.shared.path("mosquitto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.folder = folder
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/mosquitto.py"), folder] + lines)
    port = try #require(Int(child.line()))
  }

  func tell(_ command: String) { #expect(child.ask(command) == "ok") }

  var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

  func settings(_ topic: String, _ more: [(String, FakeValue)] = []) -> FakeValue {
    var settings: FakeValue = ["host": "127.0.0.1", "port": .integer(Int64(port)), "topic": .text(topic)]
    for (name, value) in more { settings.set(name, value) }
    return settings
  }
}

/// mosquitto_sub, which reads back what the broker passed on.
final class Subscriber: Sendable {
  struct Message: Decodable {
    struct Properties: Decodable {
      let contentType: String?
      let userProperties: [String: String]?

      enum CodingKeys: String, CodingKey {
        case contentType = "content-type"
        case userProperties = "user-properties"
      }
    }

    let topic: String
    let qos: Int
    let retain: Int
    let payload: String?
    let payloadlen: Int
    let properties: Properties?

    func user(_ name: String) -> String? {
      properties?.userProperties?[name]
    }
  }

  private let child: Child
  private let file: String

  /// Listens until `count` messages have come, for some seconds at most.
  init(
    _ broker: Mosquitto, _ filter: String, count: Int, options: [String] = [], seconds: Int = 120, version: String = "5"
  ) throws {
    file = TemporaryFolder.shared.path("subscriber-\(UUID().uuidString)")
    let program =
      [
        "mosquitto_sub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", version == "5" ? "mqttv5" : "mqttv311", "-q",
        "2",
      ] + options + [
        "-t", filter, "-F", "%j", "-C", "\(count)", "-W", "\(seconds)",
      ]
    let before = broker.log.components(separatedBy: "Sending SUBACK").count
    child = try Child(["sh", "-c", "exec 9>&1; exec \"$@\" >\"$0\" 2>&1", file] + program)
    // Subscribed once the broker has said so, else a message might go by.
    #expect(
      eventually { broker.log.components(separatedBy: "Sending SUBACK").count > before },
      "\((try? String(contentsOfFile: file, encoding: .utf8)) ?? "")")
  }

  /// What came, once mosquitto_sub has ended.
  func messages() throws -> [Message] {
    // It holds the other end as long as it runs.
    _ = child.line()
    return try soFar()
  }

  func soFar() throws -> [Message] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("{") && $0.hasSuffix("}")
    }.map {
      try JSONDecoder().decode(Message.self, from: Data($0.utf8))
    }
  }
}
