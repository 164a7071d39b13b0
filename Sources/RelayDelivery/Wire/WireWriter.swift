// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol

/// Puts one frame together: leaves room for the header, appends fields, fills the header in at the end.
struct WireWriter {
  private var bytes = [UInt8](repeating: 0, count: Int(RELAY_FRAME_HEADER))

  mutating func u8(_ value: UInt8) { bytes.append(value) }
  mutating func u32(_ value: UInt32) { number(UInt64(value), 4) }
  mutating func i32(_ value: Int32) { u32(UInt32(bitPattern: value)) }
  mutating func u64(_ value: UInt64) { number(value, 8) }
  mutating func i64(_ value: Int64) { u64(UInt64(bitPattern: value)) }

  mutating func raw(_ data: some Collection<UInt8>) { bytes.append(contentsOf: data) }

  /// A length that doesn't fit is written as it can be: such a frame is too long, and `frame` says so.
  mutating func data(_ data: some Collection<UInt8>) {
    u32(UInt32(clamping: data.count))
    raw(data)
  }

  mutating func text(_ text: String?) {
    if let text { data(text.utf8) } else { u32(RELAY_TEXT_ABSENT) }
  }

  mutating func count(_ count: Int) { u32(UInt32(clamping: count)) }

  consuming func frame(type: UInt32, requestID: UInt64) throws(WireError) -> [UInt8] {
    let length = bytes.count - Int(RELAY_FRAME_HEADER)
    guard length <= Int(RELAY_FRAME_MAXIMUM) else { throw .messageTooLong(bytes: length) }
    var header = WireWriter(empty: ())
    header.number(UInt64(length), 4)
    header.number(UInt64(type), 2)
    header.number(0, 2)
    header.number(requestID, 8)
    bytes.replaceSubrange(0..<Int(RELAY_FRAME_HEADER), with: header.bytes)
    return bytes
  }

  init() {}

  private init(empty: Void) { bytes = [] }

  private mutating func number(_ value: UInt64, _ width: Int) {
    for offset in 0..<width {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * offset)))
    }
  }
}
