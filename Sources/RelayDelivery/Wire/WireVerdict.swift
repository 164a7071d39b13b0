// SPDX-License-Identifier: Apache-2.0

/// A verdict as the worker passed it on: numbers unjudged, texts of the target's making (made valid UTF-8, else as they came).
package struct WireVerdict: Sendable, Equatable {
  /// `RELAY_NONE` and so on; any number is possible.
  package var code: Int32
  package var reason: Int32
  package var status: Int32
  package var retryAfterMilliseconds: UInt64
  package var bytesSent: UInt64
  package var flags: UInt32
  /// At most 4 KiB before repair.
  package var message: String
  /// At most 1 KiB before repair.
  package var receipt: String

  package init(
    code: Int32 = 0, reason: Int32 = 0, status: Int32 = 0, retryAfterMilliseconds: UInt64 = 0, bytesSent: UInt64 = 0,
    flags: UInt32 = 0, message: String = "", receipt: String = ""
  ) {
    self.code = code
    self.reason = reason
    self.status = status
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.bytesSent = bytesSent
    self.flags = flags
    self.message = message
    self.receipt = receipt
  }
}
