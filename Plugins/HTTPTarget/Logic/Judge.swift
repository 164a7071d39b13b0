// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Turns what came back into a verdict.
struct Judge {
  var successStatuses: Set<Int> = []
  var conflictIsSuccess = false
  var addressIsTemplate = false

  func verdict(on answer: Answer, attempt: UInt32, now: Int64) -> Verdict {
    var verdict = judge(answer, attempt, now)
    verdict.bytesSent = answer.sent
    return verdict
  }

  private func judge(_ answer: Answer, _ attempt: UInt32, _ now: Int64) -> Verdict {
    if let failure = answer.sourceFailure { return failure }
    let said = Words.answered(answer)
    if isSuccess(answer.status) {
      // Without the whole body there is nothing that the receiver could have accepted.
      guard answer.allSent else { return unsure(.receiver, answer, "\(said) before it had everything") }
      return .delivered(
        status: Int32(answer.status), message: Words.said(answer),
        receipt: answer.head.location ?? answer.head.requestID)
    }
    if answer.status == 0 { return answer.stopped ? stopped(answer) : TransportFailure.verdict(on: answer) }
    if (200...299).contains(answer.status) {
      return unsure(.receiver, answer, "\(said), which \"successStatuses\" does not list")
    }
    return byStatus(answer, said, attempt, now)
  }

  private func byStatus(_ answer: Answer, _ said: String, _ attempt: UInt32, _ now: Int64) -> Verdict {
    let rule = StatusRule.rule(for: answer.status)
    let status = Int32(answer.status)
    let message = rule.advice.isEmpty ? said : "\(said); \(rule.advice)"
    let retry = Verdict.retry(
      rule.reason, status: status, said, after: RetryAfter.parse(answer.head.retryAfter, now: now))
    let attention = Verdict.needsAttention(rule.reason, status: status, message)
    let refused = Verdict.refused(rule.reason, status: status, message)
    switch rule.action {
    case .delivered: return unsure(rule.reason, answer, said)
    case .retry: return retry
    case .refused: return refused
    case .needsAttention: return attention
    case .retryTwiceThenRefused: return attempt <= 2 ? retry : refused
    case .needsAttentionUnlessPage: return attempt <= 1 && ReceiverText.isPage(answer) ? retry : attention
    case .missing: return addressIsTemplate ? refused : attention
    }
  }

  /// The verdict of a check: any answer proves that the receiver is reachable.
  func reachable(_ answer: Answer, now: Int64) -> Verdict {
    guard answer.status != 0 else { return answer.stopped ? .cancelled : TransportFailure.verdict(on: answer) }
    switch answer.status {
    case 401, 403, 407, 300...399: return byStatus(answer, Words.answered(answer), 2, now)
    default: return .delivered(status: Int32(answer.status), message: "reachable; \(Words.answered(answer)) to HEAD")
    }
  }

  private func isSuccess(_ status: Int) -> Bool {
    if status == 409, conflictIsSuccess { return true }
    return successStatuses.isEmpty ? (200...299).contains(status) : successStatuses.contains(status)
  }

  private func stopped(_ answer: Answer) -> Verdict {
    guard answer.allSent || answer.sentBefore else { return .cancelled }
    return unsure(.timeout, answer, "stopped while waiting for the answer")
  }

  /// Something was sent and no proof came back.
  private func unsure(_ reason: Verdict.Reason, _ answer: Answer, _ message: String) -> Verdict {
    .retry(reason, status: Int32(answer.status), message, maybeDelivered: true)
  }
}
