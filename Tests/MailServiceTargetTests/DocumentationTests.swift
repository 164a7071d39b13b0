// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

extension AnswerRule {
  /// As a row of the page's tables.
  var row: String {
    let status =
      statuses == 200...599
      ? "any" : statuses.count == 1 ? "\(statuses.lowerBound)" : "\(statuses.lowerBound)-\(statuses.upperBound)"
    let named: String? =
      switch code {
      case .any: nil
      case .none: "nothing of the service's own"
      case .named(let name): "`\(name)`"
      case .below(let name): "`\(name)…`"
      }
    let says = [named, words.map { "“\($0)”" }].compactMap { $0 }.joined(separator: ", ")
    return "| \(status) | \(says.isEmpty ? "–" : says) | \(action.rawValue) | \(advice.isEmpty ? "–" : advice) |"
  }
}

@Suite struct DocumentationTests {
  let page: [Substring]

  init() throws { page = try Repository.text(of: "docs/targets/mail-service.md").split(separator: "\n") }

  /// Rows of the table below a heading, without its head.
  func rows(below heading: String) -> [String] {
    page.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("|") }.dropFirst(2)
      .map(String.init)
  }

  @Test(arguments: Service.allCases)
  func `the page's table of each service is the code's`(service: Service) {
    #expect(rows(below: "### \(service.name)") == service.rules.map(\.row))
  }

  @Test func `the page's table of all services is the code's`() {
    #expect(rows(below: "### Any service") == AnswerRule.common.map(\.row))
  }

  @Test func `the page names every setting and every limit`() throws {
    let manifest = try JSONSerialization.jsonObject(with: Data(MailServiceManifest.json.utf8)) as? [String: Any]
    let schema = try #require(manifest?["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    for name in properties.keys { #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)") }
    for service in Service.allCases {
      let (file, mail) = (service.largestFile / 1_000_000, service.largestMail / 1_000_000)
      #expect(page.contains { $0.hasPrefix("| \(service.name) | \(file) MB | \(mail) MB |") })
    }
  }

  @Test func `the page lists the endings that Resend doesn't send`() {
    let listed = page.first { $0.hasPrefix("`.adp`") }?.split(separator: ", ").map { $0.filter { !"`.".contains($0) } }
    #expect(listed == ResendEndings.notSent.sorted())
  }
}
