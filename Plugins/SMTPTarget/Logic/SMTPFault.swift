// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings, in the words that people read.
enum SMTPFault: Error, Equatable {
  /// Each with the setting it is about.
  case missing(String)
  case controlCharacter(String)
  case notAnAddress(String)
  case severalInOne(String)
  case tooManyRecipients
  case hostUnusable
  case loginIncomplete
  case zeroInLogin
  case passwordInClear
  /// A rendered template gave this.
  case renderedControlCharacter(String)

  var message: String {
    switch self {
    case .missing(let setting): "no \"\(setting)\" is set; add it to the settings"
    case .controlCharacter(let setting):
      "\"\(setting)\" holds a line break or another control character; take it out"
    case .notAnAddress(let setting):
      "\"\(setting)\" is no mail address: write name@example.org or Some Name <name@example.org>"
    case .severalInOne(let setting):
      "\"\(setting)\" holds several addresses in one text: write them as a list, [\"a@example.org\", \"b@example.org\"]"
    case .tooManyRecipients:
      "\"to\", \"cc\" and \"bcc\" hold more than \(SMTPSettings.mostRecipients) addresses; use a mailing list or several pipelines"
    case .hostUnusable: "\"host\" must be the name or address of the mail server alone, such as mail.example.org"
    case .loginIncomplete: "\"username\" and \"password\" go together; set both, or neither"
    case .zeroInLogin: "\"username\" or \"password\" holds a zero byte, which no login can carry; set it again"
    case .passwordInClear:
      "\"security\" is none, so the password would be readable on the way: set \"security\" to starttls or tls, or "
        + "\"allowPasswordInClear\" to true if the way is safe"
    case .renderedControlCharacter(let setting):
      "the template in \"\(setting)\" gave a text with a line break or another control character for this artifact; mend the template"
    }
  }

  var verdict: Verdict {
    switch self {
    // What was rendered stays as it is, and the next artifact may be better.
    case .renderedControlCharacter: .refused(.settings, message)
    default: .needsAttention(.settings, message)
    }
  }
}
