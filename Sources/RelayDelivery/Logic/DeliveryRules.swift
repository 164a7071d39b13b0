// SPDX-License-Identifier: Apache-2.0

/// How one pipeline waits and gives up. All times in milliseconds.
package struct DeliveryRules: Equatable, Sendable {
  package enum Unsure: Sendable {
    case retry, hold
  }

  package var spacing: Int64
  package var retryFirst: Int64
  package var retryMost: Int64
  package var onUnsure: Unsure
  /// Whether the receiver recognises a repeat, as the target's manifest says.
  package var isIdempotent: Bool
  /// Of the pipeline's own settings; kept with the reason why it stopped.
  package var fingerprint: String

  package init(
    spacing: Int64 = 1000, retryFirst: Int64 = 60_000, retryMost: Int64 = 21_600_000, onUnsure: Unsure = .retry,
    isIdempotent: Bool = false, fingerprint: String = ""
  ) {
    self.spacing = spacing
    self.retryFirst = retryFirst
    self.retryMost = retryMost
    self.onUnsure = onUnsure
    self.isIdempotent = isIdempotent
    self.fingerprint = fingerprint
  }

  /// The same part ended the worker this often: only its artifact is set aside.
  package static let misbehavioursOfOnePart: UInt32 = 5
  /// The target misbehaved this often in a row, whatever the part: the pipeline needs attention.
  package static let misbehavioursInARow: UInt32 = 10
  /// A receiver that doesn't recognise a repeat gets one after an unclear end at the earliest after this.
  package static let unsureWait: Int64 = 600_000
  /// What a person does about a delivery that may have arrived.
  static let unsureAdvice = "Look at the receiver; `resume` sends it again, `queue drop` sets it aside."
  /// A receiver's own wish counts up to a day.
  package static let longestReceiverWait: UInt64 = 86_400_000
  /// How soon a mark that couldn't be written is tried again.
  package static let markWait: Int64 = 5_000

  /// The wait after a failure: the first one doubled with every step up to the most, and shaken by a tenth either way.
  ///
  /// - Parameter chance: from 0 to 1.
  package func backoff(step: UInt32, chance: Double) -> Int64 {
    var wait = max(0, retryFirst)
    for _ in 0..<min(step, 62) where wait < retryMost { wait = wait > retryMost / 2 ? retryMost : wait * 2 }
    wait = min(wait, retryMost)
    let shake = Double(wait) * 0.1 * (min(max(chance, 0), 1) * 2 - 1)
    return max(0, min(retryMost, wait &+ Int64(shake)))
  }

  /// The wait that a verdict calls for: never shorter than the receiver asked for.
  package func wait(after verdict: DeliveryVerdict, step: UInt32, chance: Double) -> Int64 {
    let most = Broken.promise(.receiverClamp) ? 100 * Self.longestReceiverWait : Self.longestReceiverWait
    // Nonsense for a verdict makes nonsense of what comes with it.
    let isWish = verdict.code != .none && !Broken.promise(.receiverWish)
    let asked = !isWish ? 0 : Int64(min(verdict.retryAfterMilliseconds, most))
    var wait = max(backoff(step: step, chance: chance), asked)
    if waitsLonger(after: verdict) && !Broken.promise(.unsureWaits) { wait = max(wait, Self.unsureWait) }
    return wait
  }

  /// Whether the next attempt may bring a repeat that the receiver doesn't recognise.
  package func waitsLonger(after verdict: DeliveryVerdict) -> Bool { verdict.maybeDelivered && !isIdempotent }

  /// What happened, and why the next attempt isn't soon.
  package static func unsureNote(_ message: String) -> String {
    "\(sentence(message))It may have arrived all the same, so the next attempt comes after \(unsureWait / 60_000) minutes or later."
  }

  /// A target's message with its end, and room behind it, so that another sentence can follow; nothing stays nothing.
  package static func sentence(_ message: String) -> String {
    guard let last = message.last else { return "" }
    return ".!?…".contains(last) ? "\(message) " : "\(message). "
  }
}
