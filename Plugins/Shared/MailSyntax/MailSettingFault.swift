// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with a setting that says who gets a mail or what it says, in the words that people read. Each with the name
/// of the setting.
package enum MailSettingFault: Error, Equatable {
  case missing(String)
  case controlCharacter(String)
  case notAnAddress(String)
  case severalInOne(String)
  /// A rendered template gave this.
  case renderedControlCharacter(String)

  package var message: String {
    switch self {
    case .missing(let setting): "no \"\(setting)\" is set; add it to the settings"
    case .controlCharacter(let setting):
      "\"\(setting)\" holds a line break or another control character; take it out"
    case .notAnAddress(let setting):
      "\"\(setting)\" is no mail address: write name@example.org or Some Name <name@example.org>"
    case .severalInOne(let setting):
      "\"\(setting)\" holds several addresses in one text: write them as a list, [\"a@example.org\", \"b@example.org\"]"
    case .renderedControlCharacter(let setting):
      "the template in \"\(setting)\" gave a text with a line break or another control character for this artifact; "
        + "mend the template"
    }
  }

  package var verdict: Verdict {
    switch self {
    // What was rendered stays as it is, and the next artifact may be better.
    case .renderedControlCharacter: .refused(.settings, message)
    default: .needsAttention(.settings, message)
    }
  }
}
