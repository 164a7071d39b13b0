// SPDX-License-Identifier: Apache-2.0
import Foundation
import TargetKit
import Testing

@testable import HTTPTargetLogic

@Suite struct DocumentationTests {
  let page: [Substring]

  init() throws {
    let path = Peer.fixture("../../docs/targets/http.md")
    page = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
  }

  /// Rows of a table whose first cell holds statuses.
  var statusRows: [(statuses: [Int], verdict: String)] {
    page.compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].allSatisfy({ "0123456789,- ".contains($0) }),
        cells[0].contains(where: \.isNumber)
      else { return nil }
      let statuses = cells[0].split(separator: ",").flatMap { range in
        let ends = range.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        return Array((ends.first ?? 0)...(ends.last ?? 0))
      }
      return (statuses, cells[1])
    }
  }

  @Test func `the page's table says what the code does`() {
    var seen: Set<Int> = []
    for (statuses, words) in statusRows {
      for status in statuses {
        #expect(seen.insert(status).inserted, "\(status) stands twice")
        let outcome = Judge().verdict(on: VerdictTableTests.answer(status), attempt: 1, now: 0).outcome
        let expected =
          [Verdict.Outcome.delivered: "delivered", .retry: "retry", .refused: "refused"][outcome] ?? "needs attention"
        #expect(words.hasPrefix(expected), "\(status)")
      }
    }
    #expect(seen.count > 230)
  }

  @Test func `the page names every setting`() throws {
    let manifest = try JSONSerialization.jsonObject(with: Data(HTTPManifest.json.utf8)) as? [String: Any]
    let schema = try #require(manifest?["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    for name in properties.keys { #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)") }
  }
}
