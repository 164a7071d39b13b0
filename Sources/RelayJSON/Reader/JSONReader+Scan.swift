// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Blanks, and in a collecting reader comments, each of which is noted.
  mutating func skipBlanks() throws(JSONError) {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(JSONError) {
    let start = offset
    switch offset + 1 < bytes.count ? bytes[offset + 1] : 0 {
    case UInt8(ascii: "/"):
      try report(.comment, at: start)
      while let byte = peek(), byte != UInt8(ascii: "\n") { offset += 1 }
    case UInt8(ascii: "*"):
      try report(.comment, at: start)
      offset += 2
      while offset + 1 < bytes.count {
        if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
          offset += 2
          return
        }
        offset += 1
      }
      throw JSONError(.unterminatedComment, at: start)
    default: throw JSONError(.unexpectedCharacter, at: start)
    }
  }

  static func startsWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "$"):
      true
    default: false
    }
  }

  /// A text in either kind of quotes, or a word.
  static func startsName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || startsWord(byte)
  }

  /// What begins a value and can't begin a name.
  static func startsUnnamedValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "{"), UInt8(ascii: "["): true
    default: false
    }
  }

  private static func continuesWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: startsWord(byte)
    }
  }

  /// A run of letters, digits, `_`, `$`, `-` and `.`.
  mutating func word() -> String {
    let start = offset
    while let byte = peek(), Self.continuesWord(byte) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// A number by the grammar of RFC 8259, section 6.
  mutating func number() throws(JSONError) -> JSONToken {
    let start = offset
    var isGood = true
    if peek() == UInt8(ascii: "-") { offset += 1 }
    if peek() == UInt8(ascii: "0") { offset += 1 } else { isGood = digits() }
    if isGood, peek() == UInt8(ascii: ".") {
      offset += 1
      isGood = digits()
    }
    var hasExponent = false
    if isGood, let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      offset += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { offset += 1 }
      isGood = digits()
    }
    if let byte = peek(), Self.continuesWord(byte) || byte == UInt8(ascii: "+") { isGood = false }
    guard isGood else {
      while let byte = peek(), Self.continuesWord(byte) || byte == UInt8(ascii: "+") { offset += 1 }
      try report(.badNumber, at: start)
      return .null
    }
    guard offset - start <= limits.numberLength else {
      try report(.numberOutOfRange, at: start)
      return .null
    }
    let number = JSONNumber(text: String(decoding: bytes[start..<offset], as: UTF8.self))
    // Without an exponent it takes 309 digits to leave the range of a double.
    if hasExponent || offset - start > 300, number.double == nil {
      try report(.numberOutOfRange, at: start)
      return .null
    }
    return .number(number)
  }

  private mutating func digits() -> Bool {
    let start = offset
    while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
    return offset > start
  }
}
