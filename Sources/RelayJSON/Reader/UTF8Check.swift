// SPDX-License-Identifier: Apache-2.0

package enum UTF8Check {
  /// The offset of the first byte that starts no well-formed sequence (Unicode, table 3-7); nil if all is well.
  package static func firstInvalid(in bytes: [UInt8], _ range: Range<Int>) -> Int? {
    let range = range.clamped(to: bytes.indices)
    var offset = range.lowerBound
    while offset < range.upperBound {
      guard let length = sequenceLength(bytes, at: offset, end: range.upperBound) else { return offset }
      offset += length
    }
    return nil
  }

  private static func sequenceLength(_ bytes: [UInt8], at offset: Int, end: Int) -> Int? {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[offset] {
    case 0..<0x80: return 1
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: return nil
    }
    guard offset + length <= end, second.contains(bytes[offset + 1]) else { return nil }
    for byte in bytes[(offset + 2)..<max(offset + 2, offset + length)] where !(0x80...0xBF).contains(byte) {
      return nil
    }
    return length
  }
}
