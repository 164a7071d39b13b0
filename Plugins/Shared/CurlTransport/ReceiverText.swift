// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The front of an answer's body as one line for people.
package enum ReceiverText {
  package static func summary(of body: [UInt8], contentType: String?) -> String {
    if isPage(body, contentType) { return PrintableLine.of(withoutMarkup(body), most: 300) }
    if let text = JSONPeek.text(of: ["message", "error_description", "detail", "error", "title"], in: body) {
      return PrintableLine.of(text, most: 1000)
    }
    return PrintableLine.of(body, most: Request.captured)
  }

  package static func isPage(_ answer: Answer) -> Bool {
    isPage(answer.body, answer.head.contentType)
  }

  private static func isPage(_ body: [UInt8], _ contentType: String?) -> Bool {
    if contentType?.lowercased().hasPrefix("text/html") == true { return true }
    let start = String(decoding: body.drop { $0 <= 0x20 }.prefix(200), as: UTF8.self).lowercased()
    return start.hasPrefix("<!doctype html") || (start.hasPrefix("<") && start.contains("<html"))
  }

  /// What stands outside of tags, scripts and styles.
  private static func withoutMarkup(_ page: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    var rest = page[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      text += rest[..<open]
      text.append(UInt8(ascii: " "))
      guard let close = rest[open...].firstIndex(of: UInt8(ascii: ">")) else { return text }
      let tag = String(decoding: rest[open...close].prefix(8), as: UTF8.self).lowercased()
      rest = rest[rest.index(after: close)...]
      guard tag.hasPrefix("<script") || tag.hasPrefix("<style") else { continue }
      guard let end = rest.firstRange(of: Array("</".utf8))?.lowerBound else { return text }
      rest = rest[end...]
    }
    return text + rest
  }
}
