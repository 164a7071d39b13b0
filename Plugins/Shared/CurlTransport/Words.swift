// SPDX-License-Identifier: Apache-2.0
import CCurl
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
    answer.allSent ? "everything was sent, but no answer came: \(why(answer))" : "no answer: \(why(answer))"
  }

  /// libcurl's words, but for what it has none for.
  private static func why(_ answer: Answer) -> String {
    switch answer.code {
    case CURLE_OK: "it broke off in its head"
    // So it calls a line of the head that is beyond its limit, too.
    case CURLE_OUT_OF_MEMORY: "there was no memory for it, or a line of its head was too long"
    default: answer.words
    }
  }
}
