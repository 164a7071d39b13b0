// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// A topic that messages can be published on.
struct Topic: Equatable {
  /// Bytes that MQTT has room for.
  static let longest = 65_535

  let text: String

  init(_ text: String) throws(MQTTFault) {
    if text.isEmpty { throw .topic("is empty") }
    if text.utf8.count > Self.longest { throw .topic("is longer than \(Self.longest) bytes") }
    if text.hasPrefix("$") { throw .topic("starts with $, which is the broker's own") }
    if text.unicodeScalars.contains(where: { $0 == "+" || $0 == "#" }) {
      throw .topic("holds + or #, which only subscribers may use")
    }
    if MQTTText.isUnfit(text) { throw .topic("holds a line break or another character that MQTT does not carry") }
    self.text = text
  }
}

/// Text as MQTT carries it.
enum MQTTText {
  /// Holds NUL, a control character, a code point that is no character, or the mark of bytes that were no UTF-8.
  static func isUnfit(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      scalar.value <= 0x1F || (0x7F...0x9F).contains(scalar.value) || (0xFDD0...0xFDEF).contains(scalar.value)
        || scalar.value & 0xFFFE == 0xFFFE || scalar == "\u{FFFD}"
    }
  }
}
