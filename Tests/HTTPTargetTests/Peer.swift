// SPDX-License-Identifier: Apache-2.0
// Foundation reads the records here: a second reader of what went over the wire.
import Foundation
import Glibc
import RelayTestSupport
import TestPrograms
import Testing

/// One request as the peer saw it.
struct Recorded: Decodable {
  let connection: Int
  let method: String
  let path: String
  let headers: [[String]]
  let length: Int
  let sha256: String
  let body: Data

  subscript(name: String) -> String? {
    let found = headers.filter { $0[0].lowercased() == name.lowercased() }
    return found.count == 1 ? found[0][1] : nil
  }
}

/// A running http_peer.py.
final class Peer: Sendable {
  /// For all tests that need no certificate; the requests of one test are told apart by their paths.
  static let shared = Result {
    // Whoever looked at the environment would now talk to nobody.
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    setenv("all_proxy", "http://127.0.0.1:1", 1)
    return try Peer()
  }

  let port: Int
  private let child: Child
  private let record: String
  private let scheme: String

  init(tls arguments: [String] = []) throws {
    scheme = arguments.isEmpty ? "http" : "https"
    record = TemporaryFolder.shared.path("peer-\(UUID().uuidString).ndjson")
    child = try Child(["python3", Self.fixture("servers/http_peer.py"), record] + arguments)
    port = try #require(Int(child.line()))
  }

  deinit { unlink(record) }

  func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  /// Requests whose path begins so, in order.
  func requests(_ path: String) throws -> [Recorded] {
    try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
      .map { try JSONDecoder().decode(Recorded.self, from: Data($0.utf8)) }
      .filter { $0.path.hasPrefix(path) }
  }

  static func fixture(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Fixtures/\(name)"
  }
}
