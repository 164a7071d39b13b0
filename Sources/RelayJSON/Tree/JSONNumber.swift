// SPDX-License-Identifier: Apache-2.0
import Glibc  // brings libm, which the standard library's conversions of doubles call

/// A number as it was written, so that nothing is lost by reading it.
package struct JSONNumber: Sendable {
  package var text: String

  /// `text` follows the grammar of RFC 8259; the reader sees to that.
  package init(text: String) { self.text = text }

  package init(_ integer: Int64) { text = String(integer) }

  /// The whole number if it is one and fits; `1.0` and `1e3` are whole.
  package var integer: Int64? {
    if let integer = Int64(text) { return integer }
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }),
      let double, abs(double) <= 0x1p53
    else { return nil }
    return Int64(exactly: double)
  }

  /// The nearest double; nil if it would be infinite.
  package var double: Double? {
    guard let double = Double(text), double.isFinite else { return nil }
    return double
  }
}

extension JSONNumber: Equatable {
  /// By value where that is certain (`1`, `1.0` and `1e0` are the same), else by what was written.
  package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
    if left.text == right.text { return true }
    switch (left.integer, right.integer) {
    case (let left?, let right?): return left == right
    case (nil, nil):
      // A double tells apart any two numbers of up to 15 digits.
      return max(left.text.utf8.count, right.text.utf8.count) <= 15 && left.double == right.double
    default: return false
    }
  }
}
