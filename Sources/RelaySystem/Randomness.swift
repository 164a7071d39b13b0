// SPDX-License-Identifier: Apache-2.0
import CRelaySystem

/// A universally unique identifier (RFC 9562), written in lower case.
package struct Identifier: Hashable, Sendable, CustomStringConvertible {
  /// Sixteen bytes in network order.
  package let bytes: [UInt8]

  /// Version 7: begins with the time, so that identifiers sort by when they were made.
  package static func timed(at time: WallTime) -> Identifier {
    var bytes = SystemRandom.bytes(16)
    let stamp = UInt64(bitPattern: Int64(max(0, time.milliseconds)))
    for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: stamp >> UInt64(40 - 8 * index)) }
    return Identifier(marking: bytes, version: 7)
  }

  /// When it was made, if it is one that says so; in whole milliseconds.
  package var time: WallTime? {
    guard bytes.count == 16, bytes[6] >> 4 == 7 else { return nil }
    return WallTime(milliseconds: bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) })
  }

  /// Version 4: all random.
  package static func random() -> Identifier { Identifier(marking: SystemRandom.bytes(16), version: 4) }

  private init(marking bytes: [UInt8], version: UInt8) {
    var marked = bytes
    marked[6] = marked[6] & 0x0F | version << 4
    marked[8] = marked[8] & 0x3F | 0x80
    self.bytes = marked
  }

  /// Sixteen bytes as they are; nil for another count.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Reads the form with hyphens, in lower or upper case.
  package init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var digits: [UInt8] = []
    for (place, character) in characters.enumerated() {
      switch (place, character) {
      case (8, 45), (13, 45), (18, 45), (23, 45): continue
      case (_, 48...57): digits.append(character - 48)
      case (_, 97...102): digits.append(character - 87)
      case (_, 65...70): digits.append(character - 55)
      default: return nil
      }
    }
    guard digits.count == 32 else { return nil }
    bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text.append(45) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The kernel's random numbers.
package enum SystemRandom {
  package static func bytes(_ count: Int) -> [UInt8] {
    var room = [UInt8](repeating: 0, count: count)
    // getrandom fails only on a kernel without it, which this program does not run on; the time still differs then.
    if relay_random(&room, count) != 0 {
      var generator = SystemRandomNumberGenerator()
      for index in room.indices { room[index] = UInt8.random(in: .min ... .max, using: &generator) }
    }
    return room
  }
}
