// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What became of one attempt to deliver one part.
package struct DeliveryVerdict: Equatable, Sendable {
  package enum Code: String, Equatable, Sendable {
    /// Nothing valid was reported: a crash, a hang, nonsense. As `retry`, and counted as misbehaviour.
    case none
    case delivered
    case retry
    case refused
    case needsAttention = "needs-attention"
    case cancelled
  }

  package var code: Code
  /// RELAY_REASON_… of the target's header.
  package var reason: Int32
  /// The protocol's own number (HTTP 503, errno); 0 is none.
  package var status: Int32
  /// What the receiver asked for; 0 is nothing.
  package var retryAfterMilliseconds: UInt64
  package var bytesSent: UInt64
  /// Everything was sent and the answer was lost.
  package var maybeDelivered: Bool
  /// What the receiver said, or what happened, for people.
  package var message: String
  /// The receiver's own identifier for what it took; empty when there is none.
  package var receipt: String
  /// Of a needs attention that is ours and not the target's: what for.
  package var problem: DiagnosticCode?

  package init(
    _ code: Code, reason: Int32 = 0, status: Int32 = 0, retryAfterMilliseconds: UInt64 = 0, bytesSent: UInt64 = 0,
    maybeDelivered: Bool = false, message: String = "", receipt: String = ""
  ) {
    self.code = code
    self.reason = reason
    self.status = status
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.bytesSent = bytesSent
    self.maybeDelivered = maybeDelivered
    self.message = message
    self.receipt = receipt
  }
}

/// Why a pipeline stopped until a person does something.
package struct Attention: Equatable, Sendable {
  /// From the registry of codes, for example `delivery.needs-attention`.
  package var code: String
  package var message: String
  package var since: Int64
  /// Of the pipeline's settings at that time: other settings start it again.
  package var fingerprint: String

  package init(code: String, message: String, since: Int64, fingerprint: String) {
    self.code = code
    self.message = message
    self.since = since
    self.fingerprint = fingerprint
  }
}
