// SPDX-License-Identifier: Apache-2.0
import TargetABI

extension DeliveryVerdict {
  /// What is told when the target said nothing itself: an empty reason helps nobody.
  var wordsWithoutMessage: String {
    let told = [reasonWords, status == 0 ? nil : "status \(status)"].compactMap { $0 }
    return "The target gave no reason\(told.isEmpty ? "" : " (\(told.joined(separator: ", ")))")."
  }

  /// The header's words for the reason's number; nil for none and for what it doesn't know.
  private var reasonWords: String? {
    switch reason {
    case RELAY_REASON_NETWORK: "network"
    case RELAY_REASON_TIMEOUT: "the receiver didn't answer in time"
    case RELAY_REASON_THROTTLED: "the receiver asked for less"
    case RELAY_REASON_CREDENTIALS: "credentials"
    case RELAY_REASON_SETTINGS: "settings"
    case RELAY_REASON_TLS: "certificate or TLS handshake"
    case RELAY_REASON_TOO_LARGE: "too large for the receiver"
    case RELAY_REASON_CONTENT: "the receiver refused the content"
    case RELAY_REASON_RECEIVER_FULL: "the receiver is full"
    case RELAY_REASON_NOT_FOUND: "the address names nothing"
    case RELAY_REASON_RECEIVER: "the receiver failed"
    case RELAY_REASON_SOURCE: "the bytes in hand weren't those that were accepted"
    default: nil
    }
  }
}
