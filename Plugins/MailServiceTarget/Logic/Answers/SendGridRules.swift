// SPDX-License-Identifier: Apache-2.0
import TargetKit

extension AnswerRule {
  /// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
  static let sendGrid = [
    AnswerRule(400, code: .below("from"), .needsAttention, .settings, "check \"from\""),
    AnswerRule(400, code: .below("personalizations"), .needsAttention, .settings, "check \"to\""),
    AnswerRule(400, .refused, .content),
    AnswerRule(401, words: "maximum credits exceeded", .needsAttention, .other, accountAdvice),
    AnswerRule(403, code: .below("from"), .needsAttention, .settings, senderAdvice),
    AnswerRule(403, words: "sender identity", .needsAttention, .settings, senderAdvice),
  ]
}
