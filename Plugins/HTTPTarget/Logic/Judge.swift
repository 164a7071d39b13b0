// SPDX-License-Identifier: Apache-2.0
import CCurl
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
    if answer.status == 0 { return answer.stopped ? stopped(answer) : Transport.verdict(on: answer) }
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
    guard answer.status != 0 else { return answer.stopped ? .cancelled : Transport.verdict(on: answer) }
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

/// Verdicts on exchanges that brought no answer.
enum Transport {
  static func verdict(on answer: Answer) -> Verdict {
    if answer.proxyStatus >= 400 { return proxy(answer) }
    switch answer.code {
    case CURLE_PEER_FAILED_VERIFICATION:
      return .needsAttention(
        .tls, "the receiver's certificate is not trusted (\(answer.words)); check \"url\" and \"tls/ca\"")
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_INVALIDCERTSTATUS:
      return .needsAttention(.tls, "a certificate file cannot be used (\(answer.words)); check \"tls\"")
    case CURLE_URL_MALFORMAT: return HTTPFault.addressUnusable.verdict
    case CURLE_SSL_CONNECT_ERROR: return retry(.tls, answer)
    case CURLE_OPERATION_TIMEDOUT: return retry(.timeout, answer)
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: return retry(.other, answer)
    case CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: return retry(.receiver, answer)
    default: return retry(.network, answer)
    }
  }

  private static func retry(_ reason: Verdict.Reason, _ answer: Answer) -> Verdict {
    .retry(reason, Words.noAnswer(answer), maybeDelivered: answer.allSent || answer.sentBefore)
  }

  private static func proxy(_ answer: Answer) -> Verdict {
    let status = Int32(answer.proxyStatus)
    let said = "the proxy answered \(status)"
    switch answer.proxyStatus {
    case 407: return .needsAttention(.credentials, status: status, "\(said); check the user and password in \"proxy\"")
    case 500...599, 408, 429: return .retry(.network, status: status, said)
    default: return .needsAttention(.settings, status: status, "\(said); check \"proxy\" and \"url\"")
    }
  }
}
