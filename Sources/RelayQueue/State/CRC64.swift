// SPDX-License-Identifier: Apache-2.0

/// The cyclic redundancy check of ECMA-182, reflected (as in XZ files): finds damage, not forgery.
package enum CRC64 {
  private static let table: [UInt64] = (0..<256).map { index in
    (0..<8).reduce(UInt64(index)) { value, _ in
      value & 1 == 1 ? value >> 1 ^ 0xC96C_5795_D787_0F42 : value >> 1
    }
  }

  package static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBufferPointer { bytes in
      table.withUnsafeBufferPointer { table in
        var sum = ~UInt64(0)
        for byte in bytes { sum = table[Int(truncatingIfNeeded: (sum ^ UInt64(byte)) & 0xFF)] ^ sum >> 8 }
        return ~sum
      }
    }
  }
}
