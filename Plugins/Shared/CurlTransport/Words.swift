// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What people read about an exchange.
package enum Words {
  /// "the receiver answered 413: too large", with the new address for a redirect.
  package static func answered(_ answer: Answer) -> String {
    var words = "the receiver answered \(answer.status)"
    if (300...399).contains(answer.status), let location = answer.head.location {
      words += ": it moved to \(PrintableLine.of(location, most: 500))"
    }
    let text = said(answer)
    return text.isEmpty ? words : "\(words): \(text)"
  }

  /// The receiver's own words.
  package static func said(_ answer: Answer) -> String {
    ReceiverText.summary(of: answer.body, contentType: answer.head.contentType)
  }

  package static func noAnswer(_ answer: Answer) -> String {
    answer.allSent ? "everything was sent, but no answer came: \(answer.words)" : "no answer: \(answer.words)"
  }
}
