// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct DocumentationTests {
  let page: [Substring]

  init() throws { page = try Repository.text(of: "docs/targets/calendar-ics.md").split(separator: "\n") }

  static func verdict(_ status: Int, _ body: String = "") -> Verdict {
    ServerJudge(now: 0).verdict(on: Answer(code: CURLE_OK, status: status, allSent: true, body: Array(body.utf8)))
  }

  /// Written down apart from the code's own table.
  static func expected(_ status: Int) -> Verdict.Outcome {
    let retried: Set = [408, 421, 423, 425, 429]
    let forPeople: Set = [401, 402, 403, 404, 405, 407, 409, 410, 426, 451, 501, 505]
    if retried.contains(status) { return .retry }
    if forPeople.contains(status) || (300...399).contains(status) { return .needsAttention }
    return status < 500 ? .refused : .retry
  }

  @Test func `every status from 300 to 599 has its verdict`() {
    for status in 300...599 {
      let verdict = Self.verdict(status)
      #expect(verdict.outcome == Self.expected(status), "status \(status)")
      #expect(verdict.status == Int32(status))
      #expect(!verdict.maybeDelivered)
    }
  }

  @Test func `the page's table says what the code does`() {
    var seen: Set<Int> = []
    for line in page {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].allSatisfy({ "0123456789,- ".contains($0) }),
        cells[0].contains(where: \.isNumber)
      else { continue }
      for range in cells[0].split(separator: ",") {
        let ends = range.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        for status in (ends.first ?? 0)...(ends.last ?? 0) {
          #expect(seen.insert(status).inserted, "\(status) stands twice")
          let outcome = Self.verdict(status).outcome
          let words = [Verdict.Outcome.retry: "retry", .refused: "refused"][outcome] ?? "needs attention"
          #expect(cells[1].hasPrefix(words), "\(status)")
        }
      }
    }
    #expect(seen.count > 130)
  }

  @Test func `the page names every setting`() throws {
    let manifest = try JSONSerialization.jsonObject(with: Data(CalendarManifest.json.utf8)) as? [String: Any]
    let schema = try #require(manifest?["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    for name in properties.keys { #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)") }
  }

  @Test func `the page's example is delivered`() throws {
    let text = page.joined(separator: "\n")
    let start = try #require(text.range(of: "```json\n{\n  \"events\"")).lowerBound
    let body = text[start...].dropFirst("```json\n".count)
    let example = try #require(body.range(of: "\n```")).lowerBound
    let place = try FilePlace()
    #expect(place.host().deliver(FakeDelivery(String(body[..<example]))).message == "events: 2 made")
    #expect(try place.events().map(\.end) == ["2026-03-28T10:00:00Z", "2026-04-07"])
  }
}
