// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import TestPrograms

/// An HTTP receiver that behaves as the path of the URL says (Tests/Fixtures/servers/http_peer.py) and keeps what came.
package final class Receiver: Sendable {
  package struct Request: Sendable {
    package var connection: Int64
    package var method: String
    package var path: String
    /// How the receiver behaved, as a path.
    package var behaviour: String
    package var headers: [(name: String, value: String)]
    package var sha256: String
    /// Of what was packed, where it came packed.
    package var plainSHA256: String
    package var length: Int64
    /// What was sent, up to 64 KiB.
    package var body: String
    /// When it was there whole, in milliseconds of the receiver's clock.
    package var at: Int64
    /// When its body began to come, by the same clock.
    package var begun: Int64
    /// Requests that were under way at that moment, this one among them.
    package var active: Int64

    /// Whether the receiver took it, also where it didn't get to say so.
    package var isTaken: Bool {
      if ["/reset/answer", "/close/answer", "/trickle", "/flood", "/cut", "/garbage"].contains(behaviour) {
        return true
      }
      let words = behaviour.split(separator: "?").first?.split(separator: "/") ?? []
      return ["status", "wait", "pace"].contains(words.first ?? "") && words.last?.hasPrefix("2") == true
    }

    /// Whether it took it and the sender couldn't hear so.
    package var isAnswerLost: Bool {
      isTaken && !["status", "wait", "pace"].contains { behaviour.hasPrefix("/\($0)") }
    }

    package var key: String { self["Idempotency-Key"] ?? "" }
    package subscript(name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
  }

  package let port: Int
  private let child: Child
  /// Where the receiver writes what came.
  package let record: String

  /// - Parameter port: nil takes one that is free.
  package init(port wanted: Int? = nil) throws {
    record = TemporaryFolder.shared.path("receiver-\(Identifier.random()).ndjson")
    let choice = wanted.map { ["--port", "\($0)"] } ?? []
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), record] + choice)
    guard let port = Int(child.line()) else { throw ScenarioProblem("the receiver didn't start") }
    self.port = port
  }

  deinit { unlink(record) }

  /// Forgets what came so far.
  package func forget() { truncate(record, 0) }

  /// What the path /script/NAME does from now on: a path for each request, the last one for all that follow.
  package func script(_ name: String, _ lines: String...) throws { try script(name, lines) }

  package func script(_ name: String, _ lines: [String]) throws {
    let file = "\(record).\(name)"
    try File.write(lines.joined(separator: "\n").utf8, to: file + ".new")
    guard rename(file + ".new", file) == 0 else { throw CallError("rename") }
  }

  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The requests whose path begins so, in the order of their arrival.
  package func requests(_ path: String = "/") throws -> [Request] {
    guard File.exists(record) else { return [] }
    let lines = try File.bytes(of: record).split(separator: 10)
    return lines.compactMap { line in
      // HEAD only asks whether somebody is there; nothing is delivered by it.
      guard let node = try? JSONTree.parse(Array(line)), node["method"]?.string != "HEAD",
        let found = node["path"]?.string, found.hasPrefix(path)
      else { return nil }
      let headers = (node["headers"]?.array ?? []).compactMap { pair in
        pair[0]?.string.flatMap { name in pair[1]?.string.map { (name, $0) } }
      }
      return Request(
        connection: node["connection"]?.integer ?? 0, method: node["method"]?.string ?? "", path: found,
        behaviour: node["behaviour"]?.string ?? "",
        headers: headers, sha256: node["sha256"]?.string ?? "",
        plainSHA256: node["plain"]?.string ?? "", length: node["length"]?.integer ?? 0,
        body: Self.decoded(node["body"]?.string ?? ""), at: node["at"]?.integer ?? 0,
        begun: node["begun"]?.integer ?? 0,
        active: node["active"]?.integer ?? 0)
    }
  }

  private static func decoded(_ base64: String) -> String {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in base64.utf8 {
      guard let value = alphabet.firstIndex(of: byte) else { break }
      (bits, count) = ((bits << 6 | value) & 0xFFFF, count + 6)
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// A pipeline that posts to a path of this receiver, without spacing unless said otherwise.
  package func pipeline(_ id: String, _ path: String, settings: String = "", delivery: String = "\"spacing\": \"0s\"")
    -> String
  {
    let more = settings.isEmpty ? "" : ", " + settings
    return """
      {"id": "\(id)", "extract": {"from": "inbox"}, "delivery": {\(delivery)},
       "load": {"target": "http", "settings": {"url": "\(url(path))"\(more)}}}
      """
  }
}
