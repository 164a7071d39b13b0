// SPDX-License-Identifier: Apache-2.0
// Foundation reads the records here: a second reader of what went over the wire.
import Foundation
import Glibc
import Synchronization
import Testing

/// A started program with its standard input and output; it ends when this value goes.
final class Child: Sendable {
  let pid: pid_t
  private let input: Int32
  private let output: Int32

  /// One start at a time, so that no child inherits what belongs to another.
  private static let starting = Mutex(())

  init(_ arguments: [String]) throws {
    let started = Self.starting.withLock { _ in Self.start(arguments) }
    (pid, input, output) = try #require(started, "\(arguments.first ?? "") could not be started")
  }

  private static func start(_ arguments: [String]) -> (pid_t, Int32, Int32)? {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { return nil }
    for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var words = arguments.map { strdup($0) } + [nil]
    var child: pid_t = 0
    let code = posix_spawnp(&child, arguments[0], &actions, nil, &words, environ)
    for word in words { free(word) }
    posix_spawn_file_actions_destroy(&actions)
    close(toChild[0])
    close(fromChild[1])
    return code == 0 ? (child, toChild[1], fromChild[0]) : nil
  }

  deinit {
    close(input)
    close(output)
    kill(pid, SIGTERM)
    waitpid(pid, nil, 0)
  }

  func line() -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits for the end; the output and the exit status.
  static func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let child = try Child(arguments)
    var text = ""
    while case let line = child.line(), !line.isEmpty { text += line + "\n" }
    var status: Int32 = 0
    waitpid(child.pid, &status, 0)
    return (text, status)
  }
}

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
    record = "\(NSTemporaryDirectory())/peer-\(UUID().uuidString).ndjson"
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
