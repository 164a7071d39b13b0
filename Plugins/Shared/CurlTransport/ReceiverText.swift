// SPDX-License-Identifier: Apache-2.0

/// The front of an answer's body as one line for people.
package enum ReceiverText {
  package static func summary(of body: [UInt8], contentType: String?) -> String {
    if isPage(body, contentType) { return printable(withoutMarkup(body), most: 300) }
    if let text = JSONPeek.text(of: ["message", "error_description", "detail", "error", "title"], in: body) {
      return printable(Array(text.utf8), most: 1000)
    }
    return printable(body, most: Request.captured)
  }

  package static func isPage(_ answer: Answer) -> Bool {
    isPage(answer.body, answer.head.contentType)
  }

  private static func isPage(_ body: [UInt8], _ contentType: String?) -> Bool {
    if contentType?.lowercased().hasPrefix("text/html") == true { return true }
    let start = String(decoding: body.drop { $0 <= 0x20 }.prefix(200), as: UTF8.self).lowercased()
    return start.hasPrefix("<!doctype html") || (start.hasPrefix("<") && start.contains("<html"))
  }

  /// One line: control characters and runs of spaces become one space, cut at a character.
  package static func printable(_ bytes: [UInt8], most: Int) -> String {
    var line = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let isSpace = scalar.properties.isWhitespace || scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
      if isSpace {
        if !line.isEmpty, line.unicodeScalars.last != " " { line += " " }
      } else {
        line.unicodeScalars.append(scalar)
      }
      if line.utf8.count >= most { break }
    }
    while line.unicodeScalars.last == " " { line.unicodeScalars.removeLast() }
    return line
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
