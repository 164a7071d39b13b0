// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayConfig
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

@Suite struct DocumentationTests {
  let page: [Substring]

  init() throws {
    page = try Repository.text(of: "docs/targets/smtp.md").split(separator: "\n")
  }

  /// The phases as the page names them.
  static let phases: [String: Conversation.Phase] = [
    "greeting": .greeting, "EHLO": .hello, "STARTTLS": .startTLS, "AUTH": .login, "MAIL": .sender, "RCPT": .recipient,
    "DATA": .data,
    "the mail": .mail,
  ]

  /// The codes of a cell such as "450-452, 454".
  static func codes(_ cell: Substring) -> [Int]? {
    guard cell.allSatisfy({ "0123456789,- ".contains($0) }), cell.contains(where: \.isNumber) else { return nil }
    return cell.split(separator: ",").flatMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
      return Array((ends.first ?? 0)...(ends.last ?? 0))
    }
  }

  static func settings() throws -> SMTPSettings {
    var settings: SMTPSettings?
    _ = try FakeHost(settings: ["host": "mail.example.org", "from": "a@example.org", "to": "b@example.org"])
      .open { host throws(Verdict) in
        settings = try SMTPSettings(host: host)
        return try SMTPTarget(host: host)
      }
    return try #require(settings)
  }

  @Test func `the page's table says what the code does`() throws {
    let settings = try Self.settings()
    var seen: Set<String> = []
    for line in page {
      let cells = line.split(separator: "|").map { Substring($0.trimmingCharacters(in: .whitespaces)) }
      guard cells.count == 3, let codes = Self.codes(cells[1]) else { continue }
      let phases = cells[0] == "anything" ? Array(Self.phases.keys) : cells[0].split(separator: ", ").map(String.init)
      for name in phases {
        let phase = try #require(Self.phases[name], "\(name)")
        for code in codes where cells[0] == "anything" || code != 421 {
          #expect(seen.insert("\(name) \(code)").inserted, "\(name) \(code) stands twice")
          let verdict = Judge(settings: settings, attempt: 3).verdict(phase, Reply(code: code))
          let expected = [Verdict.Outcome.retry: "retry", .refused: "refused"][verdict.outcome] ?? "needs attention"
          #expect(cells[2].hasPrefix(expected) || cells[2].contains("then \(expected)"), "\(name) \(code)")
          let first = Judge(settings: settings, attempt: 1).verdict(phase, Reply(code: code))
          if first.outcome != verdict.outcome { #expect(cells[2].hasPrefix("retry twice, then")) }
        }
      }
    }
    // Every phase has every code from 400 to 599.
    #expect(seen.count == Self.phases.count * 200)
  }

  @Test func `the page names every setting`() throws {
    let manifest = try JSONSerialization.jsonObject(with: Data(SMTPManifest.json.utf8)) as? [String: Any]
    let schema = try #require(manifest?["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    for name in properties.keys { #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)") }
  }

  @Test func `the host takes the manifest`() throws {
    let read = TargetManifest.read(Array(SMTPManifest.json.utf8), origin: "libSMTPTarget.so")
    #expect(read.manifest?.id == "smtp")
    #expect(read.problems.isEmpty, "\(read.problems)")
  }
}
