// SPDX-License-Identifier: Apache-2.0

/// Text from outside made fit for a log, a terminal or a status file.
package enum PrintableText {
  /// Control characters, among them those that begin terminal commands or turn the writing direction, become spaces.
  package static func cleaned(_ text: String, limit: Int = 4096) -> String {
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) { kept.append(isControl(scalar) ? " " : scalar) }
    return String(kept)
  }

  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0xFEFF: true
    default: false
    }
  }
}
