// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// One reply of a server (RFC 5321, section 4.2), with the enhanced status code (RFC 3463) where it has one.
struct Reply: Equatable {
  /// Most bytes that are kept of a reply's text.
  static let longest = 1000

  var code: Int
  /// "5.7.1"; nil without one.
  var enhanced: String?
  /// Printable, in one line, without the codes.
  var text: String

  init(code: Int, enhanced: String? = nil, text: String = "") {
    self.code = code
    self.enhanced = enhanced
    self.text = text
  }

  /// From its lines without code and separator.
  init(code: Int, lines: [[UInt8]]) {
    self.code = code
    var texts: [String] = []
    for line in lines {
      let text = PrintableLine.of(line, most: Self.longest)
      let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      if let first = words.first, Self.isEnhanced(first) {
        enhanced = enhanced ?? String(first)
        texts.append(words.count > 1 ? String(words[1]) : "")
      } else {
        texts.append(text)
      }
    }
    text = PrintableLine.of(texts.filter { !$0.isEmpty }.joined(separator: " "), most: Self.longest)
  }

  var isPositive: Bool { (200...299).contains(code) }

  /// "550 5.1.1 no such user".
  var words: String { said.isEmpty ? "\(code)" : "\(code) \(said)" }

  /// "5.1.1 no such user".
  var said: String { [enhanced ?? "", text].filter { !$0.isEmpty }.joined(separator: " ") }

  /// Subject and detail of the enhanced code: "7.1" of "5.7.1".
  var detail: Substring? { enhanced.map { $0.dropFirst(2) } }

  /// The server's own id of what it took, where it says it in one of the usual ways.
  var queueID: String? {
    for mark in ["queued as ", "id="] {
      guard let start = text.firstRange(of: mark)?.upperBound else { continue }
      let id = text[start...].prefix { $0 != " " && $0 != ";" && $0 != ")" }
      if !id.isEmpty { return String(id) }
    }
    return nil
  }

  private static func isEnhanced(_ word: Substring) -> Bool {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, ["2", "4", "5"].contains(parts[0]) else { return false }
    return parts[1...].allSatisfy {
      (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
  }
}

/// One line of a reply as libcurl cuts them: what is no final line to libcurl is none here.
struct ReplyLine: Equatable {
  var code: Int
  var isFinal: Bool
  var text: [UInt8]

  /// nil for what is no line of a reply.
  init?(_ line: some Collection<UInt8>) {
    let bytes = Array(line.prefix(2048))
    let digits = bytes.prefix(3)
    guard bytes.count >= 4, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    code = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    isFinal = bytes[3] == UInt8(ascii: " ") || line.count == 5
    guard isFinal || bytes[3] == UInt8(ascii: "-") else { return nil }
    text = Array(bytes.dropFirst(4).filter { $0 != 0x0d && $0 != 0x0a })
  }
}
