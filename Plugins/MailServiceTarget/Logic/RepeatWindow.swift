// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// How long a service recognises a repeat of this delivery.
///
/// Resend forgets a key after 24 hours. Within them sending again does no harm; after them it may bring the mail twice. So it
/// is on disk, before anything is sent, since when Resend may know the key.
struct RepeatWindow {
  /// Seconds, an hour short of what Resend promises.
  static let length: Int64 = 23 * 3600
  private static let key = "sent-since"

  private let state: State
  /// This attempt is the first that may reach the service.
  private let isFirst: Bool

  /// Throws once, instead of sending, when the key may be forgotten: the host then asks what its settings say about repeats.
  init(_ host: Host, now: Int64) throws(Verdict) {
    state = host.state(.delivery)
    guard let value = try state.get(Self.key) else {
      try state.put(Self.key, "\(now)")
      isFirst = true
      return
    }
    isFirst = false
    // What cannot be read, and what lies in the future, counts as long ago.
    let since = Int64(String(decoding: value, as: UTF8.self)) ?? 0
    let (age, overflow) = now.subtractingReportingOverflow(since)
    if !overflow, (0...Self.length).contains(age) { return }
    try state.delete(Self.key)
    throw .retry(
      .other,
      "an earlier attempt may have been taken, and it is so long ago that Resend no longer recognises the repeat",
      maybeDelivered: true)
  }

  /// Takes the mark back after an attempt of which nothing can have been taken, unless an earlier one left it.
  func close(_ host: Host) {
    guard isFirst else { return }
    do throws(Verdict) {
      try state.delete(Self.key)
    } catch {
      // A mark too many asks once too often.
      host.log(.warning, error.message)
    }
  }
}
