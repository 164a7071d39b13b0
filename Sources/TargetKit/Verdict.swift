// SPDX-License-Identifier: Apache-2.0
import TargetABI

/// How a delivery ended.
///
/// Anything unclear is a `retry`: nothing is ever dropped because something was unclear.
public struct Verdict: Error, Equatable, Sendable {
  public enum Outcome: Int32, Sendable {
    /// Positive proof that the receiver has it.
    case delivered = 1
    /// Later may work; the same bytes with the same identities come again.
    case retry = 2
    /// These bytes will never be accepted; the host sets the artifact aside with the message.
    case refused = 3
    /// A person must change something; the pipeline stops and keeps everything.
    case needsAttention = 4
    /// `Host.shouldStop` was obeyed; stays queued, not an attempt.
    case cancelled = 5
  }

  public enum Reason: Int32, Sendable {
    case other = 0
    case network, timeout, throttled, credentials, settings, tls, tooLarge, content, receiverFull, notFound, receiver
    /// The bytes in hand are not what their manifest says.
    case source
  }

  public var outcome: Outcome
  public var reason: Reason
  /// The protocol's own number (HTTP 503, SMTP 451, errno); 0 for none.
  public var status: Int32
  /// What the receiver said, for people.
  ///
  /// Never a secret.
  public var message: String
  /// The receiver's own name for what it took.
  public var receipt: String?
  /// What the receiver asked for; nil leaves it to the host's backoff.
  public var retryAfter: Duration?
  /// With `retry`: everything was sent and the answer was lost.
  public var maybeDelivered: Bool
  /// Bytes that left, for the log.
  public var bytesSent: UInt64

  public init(
    _ outcome: Outcome, reason: Reason = .other, status: Int32 = 0, message: String = "", receipt: String? = nil,
    retryAfter: Duration? = nil, maybeDelivered: Bool = false, bytesSent: UInt64 = 0
  ) {
    self.outcome = outcome
    self.reason = reason
    self.status = status
    self.message = message
    self.receipt = receipt
    self.retryAfter = retryAfter
    self.maybeDelivered = maybeDelivered
    self.bytesSent = bytesSent
  }

  public static func delivered(status: Int32 = 0, message: String = "", receipt: String? = nil) -> Verdict {
    Verdict(.delivered, status: status, message: message, receipt: receipt)
  }

  public static func retry(
    _ reason: Reason, status: Int32 = 0, _ message: String, after: Duration? = nil, maybeDelivered: Bool = false
  ) -> Verdict {
    Verdict(
      .retry, reason: reason, status: status, message: message, retryAfter: after, maybeDelivered: maybeDelivered)
  }

  public static func refused(_ reason: Reason, status: Int32 = 0, _ message: String) -> Verdict {
    Verdict(.refused, reason: reason, status: status, message: message)
  }

  public static func needsAttention(_ reason: Reason, status: Int32 = 0, _ message: String) -> Verdict {
    Verdict(.needsAttention, reason: reason, status: status, message: message)
  }

  public static let cancelled = Verdict(.cancelled)
}
