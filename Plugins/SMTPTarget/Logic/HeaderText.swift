// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import MailSyntax

/// Text in header fields, in 7 bits: as it is where that is possible, else as encoded words (RFC 2047).
enum HeaderText {
  /// Longest line with an encoded word, in characters.
  static let longestLine = 76

  /// The value of a field such as Subject, whose name takes up `column` characters.
  static func unstructured(_ text: String, at column: Int) -> String {
    // What would read as an encoded word, or lose its spaces, is encoded too.
    let isPlain =
      text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.contains("=?") && !text.hasPrefix(" ")
      && !text.hasSuffix(" ") && column + text.utf8.count <= 78
    return isPlain ? text : encodedWords(text, at: column)
  }

  /// The name before an address.
  static func phrase(_ text: String, at column: Int) -> String {
    let isQuotable =
      text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.contains("=?") && text.utf8.count <= 60
    guard isQuotable else { return encodedWords(text, at: column) }
    if text.utf8.allSatisfy(isAtomOrSpace) { return text }
    var quoted = ""
    for character in text {
      if character == "\"" || character == "\\" { quoted.append("\\") }
      quoted.append(character)
    }
    return "\"\(quoted)\""
  }

  /// All of a text as one word; the caller sees to its length.
  static func encodedWord(_ text: String) -> String { "=?UTF-8?B?\(Base64.encode(Array(text.utf8)))?=" }

  /// Encoded words on as many lines as it takes.
  private static func encodedWords(_ text: String, at column: Int) -> String {
    var words: [String] = []
    var word = ""
    var room = bytesOfWord(at: column)
    for scalar in text.unicodeScalars {
      let length = String(scalar).utf8.count
      if length > room, !word.isEmpty {
        words.append(encodedWord(word))
        word = ""
        room = bytesOfWord(at: 1)
      }
      word.unicodeScalars.append(scalar)
      room -= length
    }
    words.append(encodedWord(word))
    return words.joined(separator: "\r\n ")
  }

  /// How many bytes a word at that column may encode.
  private static func bytesOfWord(at column: Int) -> Int {
    max((longestLine - column - "=?UTF-8?B??=".utf8.count) / 4 * 3, 4)
  }

  private static func isAtomOrSpace(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: " "):
      true
    default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
    }
  }
}

extension MailAddress {
  /// As it stands in a header field that has `column` characters already; may fold over lines.
  func headerText(at column: Int) -> String {
    guard let name else { return mailbox }
    return "\(HeaderText.phrase(name, at: column)) <\(mailbox)>"
  }
}
