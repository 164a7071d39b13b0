// SPDX-License-Identifier: Apache-2.0
import TargetKit

extension AnswerRule {
  /// https://resend.com/docs/api-reference/errors; a bad key has come with 400, 401 and 403 over the years, so its words count.
  static let resend = [
    AnswerRule(400...403, words: "api key", .needsAttention, .credentials, keyAdvice),
    AnswerRule(403, code: .named("validation_error"), .needsAttention, .settings, senderAdvice),
    AnswerRule(400...422, code: .named("invalid_from_address"), .needsAttention, .settings, "check \"from\""),
    AnswerRule(400...422, words: "`from`", .needsAttention, .settings, "check \"from\""),
    AnswerRule(400...422, words: "`to`", .needsAttention, .settings, "check \"to\""),
    AnswerRule(409, code: .named("concurrent_idempotent_requests"), .retry, .throttled),
    AnswerRule(
      409, code: .named("invalid_idempotent_request"), .needsAttention, .settings,
      "\"from\", \"to\", \"subject\" or \"text\" was changed after a mail for this artifact was sent: look there whether it "
        + "went out, then drop the artifact, or change the setting back"),
    AnswerRule(409, .retry, .receiver),
    AnswerRule(422, code: .named("invalid_attachment"), .refused, .content),
    AnswerRule(422, code: .named("missing_required_field"), .refused, .content),
    AnswerRule(422, code: .named("validation_error"), .refused, .content),
    AnswerRule(429, code: .named("daily_quota_exceeded"), .retryTomorrow, .throttled),
    AnswerRule(429, code: .named("monthly_quota_exceeded"), .needsAttention, .other, accountAdvice),
    AnswerRule(429, code: .named("rate_limit_exceeded"), .retry, .throttled),
    AnswerRule(
      451, code: .named("security_error"), .needsAttention, .settings,
      "check \"from\" and \"to\" for unusual characters"),
  ]
}
