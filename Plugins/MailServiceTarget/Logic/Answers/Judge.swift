// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TargetKit

/// Turns what came back into a verdict.
struct Judge {
  private static let day: Int64 = 86_400

  var service: Service

  func verdict(on answer: Answer, attempt: UInt32, now: Int64) -> Verdict {
    var verdict = judge(answer, attempt, now)
    verdict.bytesSent = answer.sent
    return verdict
  }

  /// An answer to a question that sends nothing, other than a good one.
  func verdict(onCheck answer: Answer, now: Int64) -> Verdict {
    if answer.status == 0 { return noAnswer(answer) }
    return byRule(answer, ServiceAnswer(answer, of: service), 2, now)
  }

  /// Whether the service has said no, or never had the whole mail.
  func cannotHaveTaken(_ answer: Answer) -> Bool {
    if answer.status == 0 || answer.status < 300 { return !answer.allSent && !answer.sentBefore }
    return AnswerRule.rule(for: answer.status, ServiceAnswer(answer, of: service), of: service).action != .retryUnsure
      && !answer.sentBefore
  }

  private func judge(_ answer: Answer, _ attempt: UInt32, _ now: Int64) -> Verdict {
    if let failure = answer.sourceFailure { return failure }
    if answer.status == 0 { return noAnswer(answer) }
    let said = ServiceAnswer(answer, of: service)
    guard (200...299).contains(answer.status) else { return byRule(answer, said, attempt, now) }
    switch service {
    case .postmark where said.isOwn && said.code != "0": return byRule(answer, said, attempt, now)
    case .resend where answer.status == 200 && said.mail?.isEmpty == false,
      .sendgrid where answer.status == 202,
      .postmark where answer.status == 200 && said.isOwn:
      // Without the whole mail there is nothing that the service could have taken.
      guard answer.allSent else { return unsure(.receiver, answer, "\(words(answer, said)) before it had everything") }
      return .delivered(status: Int32(answer.status), message: delivered(said), receipt: said.mail)
    default: return unsure(.receiver, answer, "\(words(answer, said)), which is no proof that it took the mail")
    }
  }

  private func byRule(_ answer: Answer, _ said: ServiceAnswer, _ attempt: UInt32, _ now: Int64) -> Verdict {
    let rule = AnswerRule.rule(for: answer.status, said, of: service)
    let status = Int32(answer.status)
    let words = words(answer, said)
    let message = rule.advice.isEmpty ? words : "\(words); \(rule.advice)"
    let wait = wait(answer, now)
    switch rule.action {
    case .retry: return .retry(rule.reason, status: status, message, after: wait)
    case .retryUnsure:
      return .retry(
        rule.reason, status: status, message, after: wait, maybeDelivered: answer.allSent && !service.recognisesRepeats)
    case .retryTomorrow:
      let untilTomorrow = Self.day - (now % Self.day + Self.day) % Self.day
      return .retry(rule.reason, status: status, message, after: wait ?? .seconds(max(untilTomorrow, 3600)))
    case .retryOnce where attempt <= 1: return .retry(rule.reason, status: status, message, after: wait)
    case .refused: return .refused(rule.reason, status: status, message)
    case .needsAttention, .retryOnce: return .needsAttention(rule.reason, status: status, message)
    }
  }

  private func noAnswer(_ answer: Answer) -> Verdict {
    if answer.stopped {
      guard answer.allSent || answer.sentBefore else { return .cancelled }
      return unsure(.timeout, answer, "stopped while waiting for the answer")
    }
    var verdict = TransportFailure.verdict(on: answer, address: "endpoint")
    if verdict.reason == .tls, verdict.outcome == .needsAttention {
      verdict.message =
        "\(service.name)'s certificate is not trusted (\(answer.words)): somebody may be listening in; check "
        + "\"endpoint\", this machine's clock and its certificates (ca-certificates)"
    }
    if service.recognisesRepeats { verdict.maybeDelivered = false }
    return verdict
  }

  /// Something was sent and no proof came back.
  private func unsure(_ reason: Verdict.Reason, _ answer: Answer, _ message: String) -> Verdict {
    .retry(reason, status: Int32(answer.status), message, maybeDelivered: !service.recognisesRepeats)
  }

  /// What the service asks for, within a day.
  private func wait(_ answer: Answer, _ now: Int64) -> Duration? {
    if let wait = RetryAfter.parse(answer.head.retryAfter, now: now) { return wait }
    guard service == .sendgrid, answer.status == 429,
      let end = answer.head["x-ratelimit-reset"].flatMap({ Int64($0) }), end > now
    else { return nil }
    return .seconds(min(end - now, Self.day))
  }

  /// "Resend answered 422 (invalid_attachment): the attachment is empty"
  private func words(_ answer: Answer, _ said: ServiceAnswer) -> String {
    var words = "\(service.name) answered \(answer.status)"
    if let code = said.code { words += " (\(PrintableLine.of(code, most: 100)))" }
    if (300...399).contains(answer.status), let location = answer.head.location {
      words += ": it moved to \(PrintableLine.of(location, most: 500))"
    }
    return said.message.isEmpty ? words : "\(words): \(said.message)"
  }

  private func delivered(_ said: ServiceAnswer) -> String {
    let taken = "\(service.name) took the mail"
    // Postmark names recipients here to whom it won't deliver.
    guard service == .postmark, said.message != "OK", !said.message.isEmpty else { return taken }
    return "\(taken): \(said.message)"
  }
}
