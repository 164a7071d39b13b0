// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Turns answers that are no success into verdicts; `.refused` is meant for the one event.
struct ServerJudge {
  /// Seconds since 1970.
  var now: Int64

  func verdict(on answer: Answer) -> Verdict {
    if answer.stopped { return .cancelled }
    if answer.status == 0 {
      var verdict = TransportFailure.verdict(on: answer)
      // Whatever arrived is recognised when it comes again, so nothing can be there twice.
      verdict.maybeDelivered = false
      return verdict
    }
    let error = DAVError(answer)
    let rule = StatusRule.rule(for: answer.status, error)
    let status = Int32(answer.status)
    let message = rule.advice.isEmpty ? said(answer, error) : "\(said(answer, error)); \(rule.advice)"
    switch rule.action {
    case .retry:
      return .retry(rule.reason, status: status, message, after: RetryAfter.parse(answer.head.retryAfter, now: now))
    case .needsAttention: return .needsAttention(rule.reason, status: status, message + digestHint(answer))
    case .refused: return .refused(rule.reason, status: status, message)
    }
  }

  private func said(_ answer: Answer, _ error: DAVError) -> String {
    guard let words = error.words ?? error.conditions.sorted().first else { return Words.answered(answer) }
    return "the receiver answered \(answer.status): \(ReceiverText.printable(Array(words.utf8), most: 300))"
  }

  private func digestHint(_ answer: Answer) -> String {
    guard answer.status == 401, answer.head["www-authenticate"]?.lowercased().hasPrefix("digest") == true else {
      return ""
    }
    return "; the server asks for Digest, this target speaks Basic: allow Basic there"
  }
}
