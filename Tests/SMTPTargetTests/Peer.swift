// SPDX-License-Identifier: Apache-2.0
// Foundation reads the records here: a second reader of what went over the wire.
import Foundation
import Glibc
import RelayTestSupport
import SMTPTargetLogic
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// One event as the peer saw it.
struct Event: Decodable {
  let connection: Int
  let event: String
  let line: String?
  let verb: String?
  let encrypted: Bool?
  let sender: String?
  let recipients: [String]?
  let length: Int?
  let sha256: String?
  let bare: Bool?
  let body: Data?
  let good: Bool?
  let mechanism: String?
}

/// A running smtp_peer.py.
final class Peer: Sendable {
  enum Kind { case plain, starttls, tls }

  let port: Int
  let kind: Kind
  private let child: Child
  private let record: String

  init(_ kind: Kind = .plain, certificate: String = "good") throws {
    _ = Self.environment
    self.kind = kind
    record = TemporaryFolder.shared.path("smtp-peer-\(UUID().uuidString).ndjson")
    try File.write([], to: record)
    var arguments = ["python3", Repository.path("Tests/Fixtures/servers/smtp_peer.py"), record]
    if kind != .plain {
      let made = try Certificates.shared.get()
      arguments += [made.file("\(certificate).pem"), made.file("\(certificate).key")]
    }
    if kind == .tls { arguments.append("tls") }
    child = try Child(arguments)
    port = try #require(Int(child.line()))
  }

  deinit { unlink(record) }

  /// What a worker has too: no broken pipe ends it, and whoever asked the environment for a proxy would now talk to nobody.
  private static let environment: Void = {
    signal(SIGPIPE, SIG_IGN)
    setenv("all_proxy", "http://127.0.0.1:1", 1)
  }()

  /// Sets the rules for what comes.
  func obey(_ rules: String) {
    child.say(rules)
    #expect(child.line() == "ok")
  }

  var events: [Event] {
    get throws {
      try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
        .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }
  }

  var mails: [Event] { get throws { try events.filter { $0.event == "mail" } } }

  /// The verbs of all commands, in order.
  var verbs: [String] { get throws { try events.compactMap(\.verb) } }

  /// Settings that lead here.
  func settings(_ more: [(String, FakeValue)] = []) throws -> FakeValue {
    var settings: FakeValue = [
      "host": "127.0.0.1", "port": .integer(Int64(port)), "from": "Relay Host <relay@example.org>",
      "to": "me@example.org",
    ]
    settings.set("security", .text(kind == .plain ? "none" : kind == .tls ? "tls" : "starttls"))
    if kind != .plain { settings.set("tls", ["ca": .text(try Certificates.shared.get().file("ca.pem"))]) }
    for (name, value) in more { settings.set(name, value) }
    return settings
  }

  func host(_ more: [(String, FakeValue)] = [], password: String? = nil) throws -> FakeHost {
    FakeHost(settings: try settings(more), secrets: password.map { ["password": $0] } ?? [:])
  }

  func deliver(
    _ delivery: FakeDelivery = FakeDelivery("weight,72\n"), _ more: [(String, FakeValue)] = [], password: String? = nil
  ) throws -> Verdict {
    try host(more, password: password).deliver(SMTPTarget.self, delivery)
  }
}

/// An authority and certificates of the tests' own.
struct Certificates {
  static let shared = Result { try Certificates() }

  private let folder: String

  private init() throws {
    folder = TemporaryFolder.shared.path("smtp-certificates")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let made = try Child.run(["sh", Repository.path("Tests/Fixtures/servers/make_certificates.sh"), folder])
    try #require(made.status == 0)
  }

  func file(_ name: String) -> String { "\(folder)/\(name)" }
}
