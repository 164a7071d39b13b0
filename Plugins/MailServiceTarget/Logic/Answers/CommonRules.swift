// SPDX-License-Identifier: Apache-2.0
import TargetKit

extension AnswerRule {
  /// What answers mean of which the service's own table says nothing.
  static let common = [
    AnswerRule(300...399, .needsAttention, .settings, "set \"endpoint\" to the address that really takes it"),
    AnswerRule(401, .needsAttention, .credentials, keyAdvice),
    AnswerRule(402, .needsAttention, .other, accountAdvice),
    AnswerRule(
      403, code: .none, .retryOnce, .network,
      "something between here and the service refused it: a network filter, a proxy"),
    AnswerRule(403, .needsAttention, .credentials, keyAdvice),
    AnswerRule(404...405, .needsAttention, .settings, "check \"endpoint\" and \"service\""),
    AnswerRule(407, .needsAttention, .network, "a proxy on the way wants a sign-in"),
    AnswerRule(408, .retry, .timeout),
    AnswerRule(410, .needsAttention, .settings, "check \"endpoint\" and \"service\""),
    AnswerRule(413, .refused, .tooLarge, "make smaller files"),
    AnswerRule(421, .retry, .receiver),
    AnswerRule(425, .retry, .receiver),
    AnswerRule(429, .retry, .throttled),
    AnswerRule(451, .needsAttention, .other, accountAdvice),
    AnswerRule(400...499, .refused, .content, "see what the service says"),
    // A gateway that gave up on what stands behind it cannot tell whether the mail was taken.
    AnswerRule(502, .retryUnsure, .receiver),
    AnswerRule(504, .retryUnsure, .receiver),
    AnswerRule(520, .retryUnsure, .receiver),
    AnswerRule(524, .retryUnsure, .receiver),
    AnswerRule(500...599, .retry, .receiver),
  ]

  static let keyAdvice = "check \"apiKey\" and what the key may do, and store it anew with relay-host secret set"
  static let accountAdvice = "look into the account at the service: it is limited, suspended or unpaid"
  static let senderAdvice = "verify the sender's address or domain at the service, or change \"from\""
}

extension Service {
  var rules: [AnswerRule] {
    switch self {
    case .resend: AnswerRule.resend
    case .sendgrid: AnswerRule.sendGrid
    case .postmark: AnswerRule.postmark
    }
  }
}
