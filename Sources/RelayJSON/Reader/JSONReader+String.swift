// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Text from the opening quote to behind the closing one.
  mutating func string(quote: UInt8) throws(JSONError) -> String {
    let start = offset
    offset += 1
    var decoded: [UInt8] = []
    var pending = offset
    while let byte = peek() {
      switch byte {
      case quote:
        decoded.append(contentsOf: bytes[pending..<offset])
        let source = offset
        offset += 1
        return try text(decoded, from: start, to: source)
      case UInt8(ascii: "\\"):
        decoded.append(contentsOf: bytes[pending..<offset])
        try escape(into: &decoded, quote: quote)
        pending = offset
      case UInt8(ascii: "\n") where collecting, UInt8(ascii: "\r") where collecting:
        // Far more often a forgotten quote than a line break inside of a text.
        try report(.unterminatedString, at: start)
        decoded.append(contentsOf: bytes[pending..<offset])
        return try text(decoded, from: start, to: offset)
      case 0..<0x20:
        try report(.controlCharacter, at: offset)
        offset += 1
      default: offset += 1
      }
    }
    throw JSONError(.unterminatedString, at: start)
  }

  private mutating func text(_ decoded: [UInt8], from start: Int, to end: Int) throws(JSONError) -> String {
    if let text = String(validating: decoded, as: UTF8.self) { return text }
    // Escapes decode to whole characters, so the fault is in the bytes themselves.
    try report(.invalidUTF8, at: UTF8Check.firstInvalid(in: bytes, start..<end) ?? start)
    return String(decoding: decoded, as: UTF8.self)
  }

  private mutating func escape(into decoded: inout [UInt8], quote: UInt8) throws(JSONError) {
    let start = offset
    offset += 1
    guard let byte = peek() else { throw JSONError(.unterminatedString, at: start) }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"): try unicodeEscape(from: start, into: &decoded)
    case quote: decoded.append(byte)
    default:
      try report(.badEscape, at: start)
      // The byte may start a longer character or be a line break: leave it to the caller.
      offset -= 1
    }
  }

  private mutating func unicodeEscape(from start: Int, into decoded: inout [UInt8]) throws(JSONError) {
    guard let unit = codeUnit() else {
      try report(.badEscape, at: start)
      return
    }
    var scalar = Unicode.Scalar(unit)
    if unit >= 0xD800, unit < 0xDC00, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    {
      let second = offset
      offset += 2
      if let low = codeUnit(), low >= 0xDC00, low < 0xE000 {
        scalar = Unicode.Scalar(0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00))
      } else {
        offset = second
      }
    }
    if scalar == nil { try report(.loneSurrogate, at: start) }
    decoded.append(contentsOf: Array(String(scalar ?? "\u{FFFD}").utf8))
  }

  /// Four hexadecimal digits; reads on only if all are there.
  private mutating func codeUnit() -> UInt16? {
    guard offset + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[offset..<offset + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    offset += 4
    return unit
  }
}
