// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import TestPrograms
import Testing

/// An HTTP receiver that behaves as the path of the URL says (Tests/Fixtures/servers/http_peer.py) and keeps what came.
final class Receiver: Sendable {
  struct Request: Sendable {
    var connection: Int64
    var method: String
    var path: String
    var headers: [(name: String, value: String)]
    var sha256: String
    var length: Int64

    subscript(name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
  }

  let port: Int
  private let child: Child
  private let record: String

  init() throws {
    record = TemporaryFolder.shared.path("receiver-\(Identifier.random()).ndjson")
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), record])
    port = try #require(Int(child.line()))
  }

  deinit { unlink(record) }

  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The requests whose path begins so, in the order of their arrival.
  func requests(_ path: String = "/") throws -> [Request] {
    guard File.exists(record) else { return [] }
    let lines = try File.bytes(of: record).split(separator: 10)
    return lines.compactMap { line in
      guard let node = try? JSONTree.parse(Array(line)), let found = node["path"]?.string, found.hasPrefix(path) else {
        return nil
      }
      let headers = (node["headers"]?.array ?? []).compactMap { pair in
        pair[0]?.string.flatMap { name in pair[1]?.string.map { (name, $0) } }
      }
      return Request(
        connection: node["connection"]?.integer ?? 0, method: node["method"]?.string ?? "", path: found,
        headers: headers, sha256: node["sha256"]?.string ?? "", length: node["length"]?.integer ?? 0)
    }
  }

  /// A pipeline that posts to a path of this receiver, without spacing unless said otherwise.
  func pipeline(_ id: String, _ path: String, settings: String = "", delivery: String = "\"spacing\": \"0s\"") -> String
  {
    let more = settings.isEmpty ? "" : ", " + settings
    return """
      {"id": "\(id)", "extract": {"from": "inbox"}, "delivery": {\(delivery)},
       "load": {"target": "http", "settings": {"url": "\(url(path))"\(more)}}}
      """
  }
}
