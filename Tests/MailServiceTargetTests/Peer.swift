// SPDX-License-Identifier: Apache-2.0
// Foundation reads the records here: a second reader of what went over the wire.
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import MailServiceTargetLogic

/// One request as the stand-in saw it.
struct Seen: Decodable {
  let method: String
  let path: String
  let headers: [String: String]
  let length: Int
  let received: Int
  let sha256: String
  let status: Int
  let chunked: Bool

  subscript(name: String) -> String? { headers.first { $0.key.lowercased() == name.lowercased() }?.value }
}

/// One mail as the stand-in took it.
struct Mail: Decodable {
  struct File: Decodable, Equatable {
    let name: String
    let type: String
    let length: Int
    let sha256: String
    /// Taken and never sent, or garbled.
    let stuck: Bool
  }

  let id: String
  let to: [String]
  let subject: String
  let text: String
  let headers: [String: String]
  let args: [String: String]?
  let attachments: [File]
}

/// A running mail_services.py.
final class Peer: Sendable {
  /// One for all tests; each test has a world of its own.
  static let shared = Result {
    // Whoever looked at the environment would now talk to nobody.
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    setenv("all_proxy", "http://127.0.0.1:1", 1)
    return try Peer()
  }

  let port: Int
  private let child: Child

  init(tls arguments: [String] = []) throws {
    child = try Child(["python3", Repository.path("Tests/Fixtures/servers/mail_services.py")] + arguments)
    port = try #require(Int(child.line()))
  }
}

extension Service {
  /// A key that the stand-in knows.
  var goodKey: String {
    switch self {
    case .resend: "re_good"
    case .sendgrid: "SG.good"
    case .postmark: "pm-good"
    }
  }
}

/// A world of the stand-in, of one test's own, and a host that delivers to it.
struct Scene {
  let world: String
  let service: Service
  let host: FakeHost

  init(_ service: Service, _ settings: FakeValue = [:], key: String? = nil) throws {
    world = "http://127.0.0.1:\(try Peer.shared.get().port)/\(UUID().uuidString.lowercased())"
    self.service = service
    host = FakeHost(
      settings: [
        "service": .text(service.rawValue), "endpoint": .text(world), "from": "Relay Host <relay@example.org>",
        "to": "ada@example.net",
      ], secrets: ["apiKey": key ?? service.goodKey])
    if case .object(let members) = settings { for (name, value) in members { host.settings.set(name, value) } }
  }

  func deliver(_ delivery: FakeDelivery = FakeDelivery("{}")) -> Verdict {
    host.deliver(MailServiceTarget.self, delivery)
  }

  /// What happens to the next requests.
  func next(_ rules: String...) throws {
    let body = "[\(rules.joined(separator: ", "))]"
    let told = try Command.run([
      "curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", body,
      "\(world)/!next",
    ])
    #expect(told.output == "204", "\(body)")
  }

  func answer(_ status: Int, _ body: String, _ headers: [String: String] = [:]) throws {
    let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
    let fields = String(decoding: try JSONEncoder().encode(headers), as: UTF8.self)
    try next("{\"answer\": [\(status), \(text), \(fields)]}")
  }

  func requests() throws -> [Seen] { try read("!requests") }

  func mails() throws -> [Mail] { try read("!mails") }

  func onlyMail() throws -> Mail {
    let mails = try mails()
    try #require(mails.count == 1, "\(mails)")
    return mails[0]
  }

  private func read<Value: Decodable>(_ what: String) throws -> Value {
    let answer = try Command.run(["curl", "-sS", "--noproxy", "*", "\(world)/\(what)"])
    return try JSONDecoder().decode(Value.self, from: Data(answer.output.utf8))
  }
}

/// The hash of some bytes, by another's code.
func sha256(_ bytes: [UInt8]) throws -> String {
  let path = TemporaryFolder.shared.path(UUID().uuidString)
  try Data(bytes).write(to: URL(filePath: path))
  defer { unlink(path) }
  return String(try Command.run(["sha256sum", path]).output.prefix(64))
}
