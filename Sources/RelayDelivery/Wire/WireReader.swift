// SPDX-License-Identifier: Apache-2.0

/// Takes fields off one payload, front to back, and never reads past its end.
struct WireReader {
  let type: UInt16
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  /// `range` must lie within `bytes`; what doesn't is treated as an empty payload.
  init(type: UInt16, bytes: [UInt8], range: Range<Int>) {
    let inside = range.lowerBound >= 0 && range.upperBound <= bytes.count
    self.type = type
    self.bytes = bytes
    position = inside ? range.lowerBound : 0
    end = inside ? range.upperBound : 0
  }

  mutating func u8() throws(WireError) -> UInt8 { UInt8(truncatingIfNeeded: try number(1)) }
  mutating func u16() throws(WireError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }
  mutating func u32() throws(WireError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }
  mutating func i32() throws(WireError) -> Int32 { Int32(truncatingIfNeeded: try number(4)) }
  mutating func u64() throws(WireError) -> UInt64 { try number(8) }
  mutating func i64() throws(WireError) -> Int64 { Int64(bitPattern: try number(8)) }

  /// The bytes of a text; an absent one is empty.
  mutating func data(limit: Int) throws(WireError) -> [UInt8] {
    let length = try u32()
    if length == UInt32.max { return [] }
    let count = Int(length)
    guard count <= end - position else { throw .truncated(type: type) }
    guard count <= limit else { throw .fieldTooLong(type: type, length: count, limit: limit) }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// A text; bytes that aren't UTF-8 come out as U+FFFD.
  mutating func text(limit: Int) throws(WireError) -> String {
    String(decoding: try data(limit: limit), as: UTF8.self)
  }

  func finish() throws(WireError) {
    if position != end { throw .trailingBytes(type: type, count: end - position) }
  }

  private mutating func number(_ width: Int) throws(WireError) -> UInt64 {
    guard width <= end - position else { throw .truncated(type: type) }
    var value: UInt64 = 0
    for offset in 0..<width {
      value |= UInt64(bytes[position + offset]) << UInt64(8 * offset)
    }
    position += width
    return value
  }
}
