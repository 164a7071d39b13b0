// SPDX-License-Identifier: Apache-2.0

/// The forms in which a secret can turn up in a message.
enum EncodedForms {
  static func all(of secret: [UInt8]) -> [[UInt8]] {
    var forms = [secret]
    for style in PercentStyle.allCases { forms.append(percentEncoded(secret, style)) }
    forms += EscapedForms.all(of: secret)
    for place in 0..<3 {
      let standard = base64(secret, at: place)
      forms.append(standard)
      forms.append(
        standard.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 })
    }
    var seen: Set<[UInt8]> = []
    return forms.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  private enum PercentStyle: CaseIterable {
    case upper, lower, form, all
  }

  private static func percentEncoded(_ bytes: [UInt8], _ style: PercentStyle) -> [UInt8] {
    let digits = Array((style == .lower ? "0123456789abcdef" : "0123456789ABCDEF").utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
      if style == .form, byte == UInt8(ascii: " ") {
        encoded.append(UInt8(ascii: "+"))
      } else if style != .all, isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return encoded
  }

  /// RFC 3986, section 2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// The base64 characters that a secret alone decides when `place` other bytes stand before it in its group of three,
  /// so they are
  /// the same whatever stands around it.
  private static func base64(_ secret: [UInt8], at place: Int) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let firstBit = place * 8
    let endBit = firstBit + secret.count * 8
    var characters: [UInt8] = []
    // A character holds six bits; only those wholly inside of the secret are certain.
    for bit in stride(from: (firstBit + 5) / 6 * 6, through: endBit - 6, by: 6) {
      var value = 0
      for offset in bit..<bit + 6 {
        let inSecret = offset - firstBit
        value = value << 1 | Int(secret[inSecret / 8] >> UInt8(7 - inSecret % 8)) & 1
      }
      characters.append(alphabet[value])
    }
    return characters
  }
}
