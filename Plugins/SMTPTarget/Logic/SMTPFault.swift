// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings of this target alone, in the words that people read.
enum SMTPFault: Error, Equatable {
  case tooManyRecipients
  case hostUnusable
  case loginIncomplete
  case zeroInLogin
  case passwordInClear

  var message: String {
    switch self {
    case .tooManyRecipients:
      "\"to\", \"cc\" and \"bcc\" hold more than \(SMTPSettings.mostRecipients) addresses; use a mailing list or several pipelines"
    case .hostUnusable: "\"host\" must be the name or address of the mail server alone, such as mail.example.org"
    case .loginIncomplete: "\"username\" and \"password\" go together; set both, or neither"
    case .zeroInLogin: "\"username\" or \"password\" holds a zero byte, which no login can carry; set it again"
    case .passwordInClear:
      "\"security\" is none, so the password would be readable on the way: set \"security\" to starttls or tls, or "
        + "\"allowPasswordInClear\" to true if the way is safe"
    }
  }

  var verdict: Verdict { .needsAttention(.settings, message) }
}
