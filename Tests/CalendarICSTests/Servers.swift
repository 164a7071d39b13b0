// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import CalendarICSLogic

/// curl as the calendar's other user.
enum Curl {
  @discardableResult
  static func run(
    _ method: String, _ url: String, user: String? = nil, body: String? = nil, headers: [String] = []
  ) throws -> (status: Int, body: String) {
    var words = ["curl", "-sS", "--noproxy", "*", "-X", method, "-w", "\n%{http_code}", url]
    if let user { words += ["-u", user] }
    if let body { words += ["--data-binary", body] }
    for header in headers { words += ["-H", header] }
    let result = try Command.run(words)
    guard result.status == 0, let line = result.output.lastIndex(of: "\n"),
      let status = Int(result.output[result.output.index(after: line)...])
    else { throw Failed(words: result.output) }
    return (status, String(result.output[..<line]))
  }
}

/// A running Radicale with one user.
final class Radicale: Sendable {
  enum Version: String, CaseIterable, Sendable {
    case debian = "3.1.8"
    case current = "3.9.0"

    var python: String { self == .debian ? "/usr/bin/python3" : Repository.python }
  }

  /// One of each version for all tests; each test makes a calendar of its own.
  static let shared = Dictionary(
    uniqueKeysWithValues: Version.allCases.map { version in (version, Result { try Radicale(version) }) })

  let port: Int
  private let folder: String
  private let child: Child

  init(_ version: Version) throws {
    folder = TemporaryFolder.shared.path("radicale-\(UUID().uuidString)")
    let script = Repository.path("Tests/Fixtures/servers/radicale_server.py")
    child = try Child([version.python, script, folder, "ada", "swordfish"])
    port = try #require(Int(child.line()), "Radicale \(version.rawValue) didn't start")
  }
}

/// A calendar on a Radicale, of one test's own.
struct RadicaleCalendar {
  static let user = "ada:swordfish"
  let url: String

  init(_ version: Radicale.Version, create: Bool = true) throws {
    let server = try #require(try Radicale.shared[version]?.get())
    url = "http://127.0.0.1:\(server.port)/ada/\(UUID().uuidString.lowercased())/"
    if create {
      let made = try Curl.run("MKCALENDAR", url, user: Self.user)
      guard made.status == 201 else { throw Failed(words: made.body) }
    }
  }

  func host(_ more: [(String, FakeValue)] = [], password: String = "swordfish") -> FakeHost {
    FakeHost(
      settings: .object([("url", .text(url)), ("username", "ada")] + more), secrets: ["password": password])
  }

  func get(_ name: String) throws -> String { try Curl.run("GET", url + name, user: Self.user).body }

  func delete(_ name: String) throws {
    #expect(try Curl.run("DELETE", url + name, user: Self.user).status == 200)
  }

  func put(_ name: String, _ text: String) throws {
    let status = try Curl.run(
      "PUT", url + name, user: Self.user, body: text, headers: ["Content-Type: text/calendar"]
    ).status
    #expect([201, 204].contains(status))
  }

  /// All events of the calendar, as another reader sees them, by title.
  func events() throws -> [ReadEvent] {
    try ReadEvent.read(Array(Curl.run("GET", url, user: Self.user).body.utf8)).sorted { $0.title < $1.title }
  }
}

/// One request as the stand-in saw it.
struct SeenRequest: Decodable {
  let method: String
  let path: String
  let body: String
  let length: Bool
  let headers: [String: String]
}

/// A running caldav_peer.py.
final class CalDAVPeer: Sendable {
  static let shared = Result {
    // Whoever looked at the environment would now talk to nobody.
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    setenv("all_proxy", "http://127.0.0.1:1", 1)
    return try CalDAVPeer()
  }

  let port: Int
  private let child: Child

  init() throws {
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/caldav_peer.py")])
    port = try #require(Int(child.line()))
  }
}

/// A world of the stand-in, of one test's own.
struct PeerCalendar {
  let world: String
  var url: String { "\(world)/cal/" }

  init() throws {
    world = "http://127.0.0.1:\(try CalDAVPeer.shared.get().port)/\(UUID().uuidString.lowercased())"
    try rules("{}")
  }

  func rules(_ json: String) throws { #expect(try Curl.run("POST", "\(world)/!rules", body: json).status == 204) }

  func requests() throws -> [SeenRequest] {
    try JSONDecoder().decode([SeenRequest].self, from: Data(Curl.run("GET", "\(world)/!requests").body.utf8))
  }

  /// What the calendar holds, by the last part of its path.
  func objects() throws -> [String: String] {
    let all = try JSONDecoder().decode(
      [String: String].self, from: Data(Curl.run("GET", "\(world)/!objects").body.utf8))
    return Dictionary(uniqueKeysWithValues: all.map { ($0.split(separator: "/").last.map(String.init) ?? "", $1) })
  }

  func events() throws -> [ReadEvent] {
    let files = try objects().values.map { text in
      let path = TemporaryFolder.shared.path("\(UUID().uuidString).ics")
      try File.write(Array(text.utf8), to: path)
      return path
    }
    return try ReadEvent.read(files).sorted { ($0.key ?? "") < ($1.key ?? "") }
  }

  func put(_ name: String, _ text: String) throws { try Curl.run("PUT", url + name, body: text) }

  func delete(_ name: String) throws { try Curl.run("DELETE", url + name) }

  func host(_ more: [(String, FakeValue)] = []) -> FakeHost {
    FakeHost(settings: .object([("url", .text(url))] + more))
  }
}

/// cutting_proxy.py before a server.
final class CuttingProxy {
  let port: Int
  private let child: pid_t
  private let rules: Int32
  private let answers: Int32

  init(to server: Int) throws {
    let (input, output) = (try Channel.pipe(), try Channel.pipe())
    let script = Repository.path("Tests/Fixtures/servers/cutting_proxy.py")
    // Connections that are cut while it ends make Python complain.
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nothing) }
    child = try Command.spawn(
      ["python3", script, "\(server)"], [(input.read, 0), (output.write, 1), (nothing, 2)])
    close(input.read)
    close(output.write)
    (rules, answers) = (input.write, output.read)
    port = try #require(Int(Self.line(answers)))
  }

  deinit {
    close(rules)
    close(answers)
    _ = Command.wait(for: child)
  }

  func obey(_ rule: String) throws {
    let bytes = Array("\(rule)\n".utf8)
    guard write(rules, bytes, bytes.count) == bytes.count, Self.line(answers) == "ok" else { throw Failed(words: rule) }
  }

  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
