// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import Testing

@testable import MQTTTargetLogic

@Suite struct DocumentationTests {
  let page: [Substring]

  init() throws {
    page = try Repository.text(of: "docs/targets/mqtt.md").split(separator: "\n")
  }

  static let headings: [(heading: String, packet: ReasonRule.Packet)] = [
    ("### The greeting of MQTT 5", .connackOf5), ("### The greeting of MQTT 3.1.1", .connackOf3),
    ("### The answer to a message", .publishAnswer), ("### The broker ends the connection", .disconnect),
  ]

  /// Rows below a heading whose first cell holds codes.
  func rows(below heading: String) -> [(codes: [Int32], verdict: String)] {
    guard let start = page.firstIndex(where: { $0.hasPrefix(heading) }) else { return [] }
    return page[(start + 1)...].prefix { !$0.hasPrefix("#") }.compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].contains(where: \.isNumber) else { return nil }
      return (cells[0].split(separator: ",").compactMap { Int32($0.trimmingCharacters(in: .whitespaces)) }, cells[1])
    }
  }

  @Test func `the page's tables say what the code does`() {
    for (heading, packet) in Self.headings {
      var seen: Set<Int32> = []
      for (codes, words) in rows(below: heading) {
        for code in codes {
          #expect(seen.insert(code).inserted, "\(code) stands twice below \(heading)")
          let action = ReasonRule.rule(for: code, in: packet).action
          let expected = ["delivered", "retry", "refused", "needs attention"][
            [ReasonRule.Action.delivered, .retry, .refused, .needsAttention].firstIndex(of: action) ?? 0]
          #expect(words.hasPrefix(expected) || (code == 132 && words.hasSuffix(expected)), "\(heading): \(code)")
        }
      }
      // What has a name is on the page, but for success.
      for code in Int32(0)...255 where !ReasonRule.rule(for: code, in: packet).name.isEmpty {
        let greets = (packet == .connackOf3 || packet == .connackOf5) && code == 0
        #expect(greets || seen.contains(code), "\(heading): \(code)")
      }
    }
  }

  @Test func `the page names every setting`() throws {
    let manifest = try JSONSerialization.jsonObject(with: Data(MQTTManifest.json.utf8)) as? [String: Any]
    let schema = try #require(manifest?["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: [String: Any]])
    let discovery = try #require(properties["discovery"]?["properties"] as? [String: Any])
    for name in Array(properties.keys) + discovery.keys {
      #expect(page.contains { $0.hasPrefix("| `\(name)` |") }, "\(name)")
    }
  }
}
