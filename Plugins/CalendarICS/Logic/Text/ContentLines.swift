// SPDX-License-Identifier: Apache-2.0

/// Writes lines as RFC 5545, section 3.1, wants them: CRLF, folded, never within a character.
///
/// libical's own writer isn't used. Version 3.0.16 prefers to fold behind a space, and whatever trims the ends of lines then glues
/// two words together; it also passes control characters on and replaces what it doesn't know by X-LIC-ERROR.
struct ContentLines {
  /// Octets of a line without its CRLF; the standard allows 75.
  static let width = 74
  /// How far a fold may move back to keep away from a space.
  private static let reach = 24

  private(set) var bytes: [UInt8] = []

  /// Hands over what was written so far.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func add(_ line: String) { add(raw: Array(line.utf8)) }

  /// A whole unfolded line.
  mutating func add(raw line: [UInt8]) {
    var start = 0
    var room = Self.width
    while line.count - start > room {
      let end = Self.fold(line, start, start + room)
      bytes += line[start..<end]
      bytes += [0x0d, 0x0a, 0x20]
      start = end
      room = Self.width - 1
    }
    bytes += line[start...]
    bytes += [0x0d, 0x0a]
  }

  /// Where the line may be broken at the latest: between two characters, neither of them a space if that can be.
  private static func fold(_ line: [UInt8], _ start: Int, _ limit: Int) -> Int {
    let lowest = max(start + 1, limit - reach)
    var whole: Int?
    for end in stride(from: limit, through: lowest, by: -1) where line[end] & 0xc0 != 0x80 {
      whole = whole ?? end
      if !isBlank(line[end]), !isBlank(line[end - 1]) { return end }
    }
    return whole ?? limit
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// A value of type TEXT.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", ";", ",": escaped += "\\\(scalar)"
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
