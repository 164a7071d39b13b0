// SPDX-License-Identifier: Apache-2.0

/// Finds one text in JSON that may be cut off, at whatever depth; what is not JSON has none.
package enum JSONPeek {
  /// The text member whose name comes first in `names`, the earliest of equals.
  package static func text(of names: [String], in bytes: [UInt8]) -> String? {
    guard let first = bytes.first(where: { !isSpace($0) }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    else { return nil }
    var found: (rank: Int, text: String)?
    var position = 0
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "\"") else {
        position += 1
        continue
      }
      guard let name = string(in: bytes, at: &position) else { break }
      skipSpace(bytes, &position)
      guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { continue }
      position += 1
      skipSpace(bytes, &position)
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { continue }
      guard let value = string(in: bytes, at: &position) else { break }
      if let rank = names.firstIndex(of: name), rank < found?.rank ?? .max { found = (rank, value) }
    }
    return found?.text
  }

  /// The string that begins at `position`, which moves behind it; nil if it does not end.
  private static func string(in bytes: [UInt8], at position: inout Int) -> String? {
    var text: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard position < bytes.count else { return nil }
      let escape = bytes[position]
      position += 1
      switch escape {
      case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
        text.append(UInt8(ascii: " "))
      case UInt8(ascii: "u"): text += unit(in: bytes, at: &position)
      default: text.append(escape)
      }
    }
    return nil
  }

  /// The character of four hexadecimal digits; half of a pair becomes a replacement character.
  private static func unit(in bytes: [UInt8], at position: inout Int) -> [UInt8] {
    let digits = String(decoding: bytes.dropFirst(position).prefix(4), as: UTF8.self)
    position = min(position + 4, bytes.count)
    let scalar = UInt32(digits, radix: 16).flatMap { Unicode.Scalar($0) } ?? "\u{FFFD}"
    return Array(String(Character(scalar)).utf8)
  }

  private static func skipSpace(_ bytes: [UInt8], _ position: inout Int) {
    while position < bytes.count, isSpace(bytes[position]) { position += 1 }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
  }
}
