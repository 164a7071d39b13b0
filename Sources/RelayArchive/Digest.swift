// SPDX-License-Identifier: Apache-2.0

/// A SHA-256 value (FIPS 180-4): 32 bytes.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
  package static let length = 32
  package let bytes: [UInt8]

  /// nil for another count of bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits in lower case.
  package init?(hex: String) {
    let digits = Array(hex.utf8)
    guard digits.count == 2 * Self.length else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(of: digits[place]), let low = Self.value(of: digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  package var description: String { hex }
}
