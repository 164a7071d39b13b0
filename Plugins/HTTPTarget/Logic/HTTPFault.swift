// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings, in the words that people read.
enum HTTPFault: Error, Equatable {
  case addressMissing
  case basicIncomplete
  case colonInUsername
  case webhookSecret
  case authorizationTwice
  case notGzip

  var message: String {
    switch self {
    case .addressMissing: "no address: set \"url\" to where the receiver listens"
    case .basicIncomplete: "\"basic\" needs both \"username\" and \"password\""
    case .colonInUsername: "the user name in \"basic\" holds a colon, which HTTP cannot carry"
    case .webhookSecret:
      "the secret of \"standardWebhooks\" must be whsec_ followed by 24 to 64 bytes in base64; copy it from the receiver"
    case .authorizationTwice:
      "\"headers\" holds Authorization and \"bearer\" or \"basic\" is set too; remove one of them"
    case .notGzip: "the bytes are marked as gzip and are not, so what is in them cannot be signed"
    }
  }

  var verdict: Verdict {
    switch self {
    case .notGzip: .retry(.source, message)
    default: .needsAttention(.settings, message)
    }
  }
}
