// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import TargetKit

/// What came of one conversation, before anyone judges it.
struct Outcome {
  var conversation: Conversation
  /// libcurl's result, and its own words for it.
  var code: CURLcode
  var words = ""
  /// All bytes of the mail left, so that the server may have taken it even if it says nothing.
  var allSent = false
  var sent: UInt64 = 0
  /// The host wanted the call to end.
  var stopped = false
  /// The verdict of a source that could not be read to its end.
  var sourceFailure: Verdict?
}

/// Turns an outcome into the verdict on the mail as such; the ledger has the last word on its recipients.
struct Judge {
  var settings: SMTPSettings
  var attempt: UInt32

  /// The verdict on the mail for those recipients whom the server took.
  func verdict(on outcome: Outcome) -> Verdict {
    var verdict = judge(outcome)
    verdict.bytesSent = outcome.sent
    return verdict
  }

  private func judge(_ outcome: Outcome) -> Verdict {
    let conversation = outcome.conversation
    if let final = conversation.final, outcome.allSent {
      guard !final.isPositive else {
        return .delivered(status: Int32(final.code), message: final.said, receipt: final.queueID)
      }
      return verdict(.mail, final)
    }
    if let failure = outcome.sourceFailure { return failure }
    if let fault = conversation.fault, fault != .closing { return Words.verdict(on: fault, settings, outcome) }
    if outcome.allSent {
      let why = outcome.stopped ? "stopped while waiting for the answer" : outcome.words
      return .retry(.timeout, "the whole mail was sent, but no answer came: \(why)", maybeDelivered: true)
    }
    if outcome.stopped { return Verdict(.cancelled, message: Words.stopped(conversation, settings)) }
    if let (phase, reply) = refusal(conversation) { return verdict(phase, reply) }
    return Words.verdict(onFailure: outcome, settings)
  }

  /// The verdict of a check.
  func reachable(_ outcome: Outcome, loggedIn: Bool) -> Verdict {
    let conversation = outcome.conversation
    // Whatever it is answered: by then the server let us in.
    if let reply = conversation.replies[.noop], conversation.fault == nil {
      return .delivered(status: Int32(reply.code), message: Words.offer(conversation, settings, loggedIn: loggedIn))
    }
    return judge(outcome)
  }

  /// The reply that ended it for all. That a recipient was refused says nothing about the others: the ledger sees to it.
  private func refusal(_ conversation: Conversation) -> (Conversation.Phase, Reply)? {
    guard let phase = conversation.lastAnswered, let reply = conversation.replies[phase],
      phase != .recipient || reply.code == 421, !Self.isHopedFor(phase, reply)
    else { return nil }
    return (phase, reply)
  }

  private static func isHopedFor(_ phase: Conversation.Phase, _ reply: Reply) -> Bool {
    switch phase {
    case .data: reply.code == 354
    case .login: reply.code == 235 || reply.code == 334
    default: reply.isPositive
    }
  }

  func verdict(_ phase: Conversation.Phase, _ reply: Reply) -> Verdict {
    let rule = ReplyRule.rule(phase, reply)
    let status = Int32(reply.code)
    let said = Words.said(phase, reply)
    let message = rule.advice.isEmpty ? said : "\(said); \(rule.advice)"
    switch rule.action {
    case .retry: return .retry(rule.reason, status: status, message, after: ReplyRule.wait(phase, reply))
    case .refused: return .refused(rule.reason, status: status, message)
    case .needsAttention: return .needsAttention(rule.reason, status: status, message)
    case .retryTwiceThenAttention:
      return attempt <= 2
        ? .retry(rule.reason, status: status, message) : .needsAttention(rule.reason, status: status, message)
    }
  }
}
