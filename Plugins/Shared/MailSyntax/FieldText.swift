// SPDX-License-Identifier: Apache-2.0

/// Text that is to stand in a header field or a command.
package enum FieldText {
  /// Whether a text holds what must never get there: it would end the field, or begin another.
  package static func hasControl(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      $0.value < 0x20 || (0x7f...0x9f).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
    }
  }
}
