// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization
import TestPrograms

/// mosquitto, read by mosquitto_sub; the broker's log tells who published.
final class MQTTCutReceiver: CutReceiver {
  let port: String
  private let version: String
  private let qos: Int
  private let certificates: String?
  private let messages: Mutex<GrowingFile>
  private let log: String
  private let broker: Child
  private let subscriber: Child

  /// - Parameters:
  ///   - version: `5` or `3.1.1`.
  ///   - certificates: the folder of those that the broker has; nil speaks without TLS.
  init(in folder: String, version: String, qos: Int, certificates: String? = nil) throws {
    self.version = version
    self.qos = qos
    self.certificates = certificates
    let file = folder + "/messages"
    messages = Mutex(GrowingFile(file))
    log = folder + "/log"
    let encryption = certificates.map { ["certfile \($0)/good.pem", "keyfile \($0)/good.key"] } ?? []
    let lines = encryption + ["max_queued_messages 0"]
    broker = try Child(["python3", Repository.path("Tests/Fixtures/servers/mosquitto.py"), folder] + lines)
    port = broker.line()
    let authority = certificates.map { "--cafile \($0)/ca.pem" } ?? ""
    let reader = "mosquitto_sub -h 127.0.0.1 -p \(port) \(authority) -V mqttv5 -i reader -c -x 3600 -q 2 -t 'cuts/#'"
    // A subscription that outlives its connection, so that nothing goes by before the reader listens.
    let subscribed = try Command.run(["sh", "-c", reader + " -E"])
    guard subscribed.status == 0 else { throw ScenarioProblem("mosquitto_sub: \(subscribed.output)") }
    let form = #"{"topic": "%t", "payload": "%x", "properties": "%P"}"#
    subscriber = try Child(["sh", "-c", "exec \(reader) -F '\(form)' > '\(file)'"])
  }

  func load(port: String) -> String {
    let tls = certificates.map { #", "tls": {"ca": "\#($0)/ca.pem"}"# } ?? ""
    return """
      {"target": "mqtt", "settings": {"host": "127.0.0.1", "port": \(port), "topic": "cuts/{{ file.name }}", "qos": \(qos),
       "version": "\(version)"\(tls)}}
      """
  }

  func receipts() throws -> [CutReceipt] {
    try messages.withLock { try $0.records() }.map { message in
      let payload = message["payload"]?.string ?? ""
      let digest = try Fingerprint.sha256(Self.bytes(ofHexadecimal: payload))
      return CutReceipt(
        name: message["topic"]?.string?.split(separator: "/").last.map(String.init) ?? "",
        identity: "\(message["properties"]?.string ?? "") \(digest)", digest: digest)
    }
  }

  /// Each message is published under the one name by which the broker knows this client.
  func faults() throws -> [String] {
    let mark = "Received PUBLISH from "
    let lines = try File.bytes(of: log).split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    let clients = lines.compactMap { line in
      line.firstRange(of: mark).flatMap { line[$0.upperBound...].split(separator: " ").first.map(String.init) }
    }
    let names = Set(clients)
    return names.count == 1 ? [] : ["published by \(names.count) clients: \(names.sorted().joined(separator: ", "))"]
  }

  private static func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
