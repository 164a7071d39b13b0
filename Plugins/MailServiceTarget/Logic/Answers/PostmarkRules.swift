// SPDX-License-Identifier: Apache-2.0
import TargetKit

extension AnswerRule {
  /// https://postmarkapp.com/developer/api/overview#error-codes; the code counts, whatever the status.
  static let postmark = [
    AnswerRule(200...599, code: .named("10"), .needsAttention, .credentials, keyAdvice),
    AnswerRule(200...599, code: .named("100"), .retry, .receiver),
    AnswerRule(200...599, code: .named("300"), words: "'from'", .needsAttention, .settings, "check \"from\""),
    AnswerRule(200...599, code: .named("300"), words: "'to'", .needsAttention, .settings, "check \"to\""),
    AnswerRule(200...599, code: .named("300"), .refused, .content),
    AnswerRule(200...599, code: .named("400"), .needsAttention, .settings, senderAdvice),
    AnswerRule(200...599, code: .named("401"), .needsAttention, .settings, senderAdvice),
    AnswerRule(200...599, code: .named("402"), .refused, .content),
    AnswerRule(200...599, code: .named("403"), .refused, .content),
    AnswerRule(200...599, code: .named("405"), .needsAttention, .other, accountAdvice),
    AnswerRule(
      200...599, code: .named("406"), .needsAttention, .settings,
      "reactivate the recipient at the service, or take it out of \"to\""),
    AnswerRule(200...599, code: .named("409"), .refused, .content),
    AnswerRule(200...599, code: .named("411"), .refused, .content, "pack the file first"),
    AnswerRule(200...599, code: .named("412"), .needsAttention, .other, accountAdvice),
    AnswerRule(200...599, code: .named("413"), .needsAttention, .other, accountAdvice),
    AnswerRule(200...599, code: .named("429"), .retry, .throttled),
    AnswerRule(
      200...599, code: .named("1235"), .needsAttention, .settings,
      "the server at Postmark needs its stream \"outbound\""),
    AnswerRule(200...299, .needsAttention, .other, "see what the service says"),
  ]
}
