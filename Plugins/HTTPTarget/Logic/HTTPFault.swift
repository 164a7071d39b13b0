// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings, in the words that people read.
enum HTTPFault: Error, Equatable {
  case addressMissing
  case addressUnusable
  case basicIncomplete
  case colonInUsername
  case webhookSecret
  case headerName(String)
  case headerReserved(String)
  case headerValue(String)
  case authorizationTwice
  case notGzip
  case library(String)

  var message: String {
    switch self {
    case .addressMissing: "no address: set \"url\" to where the receiver listens"
    case .addressUnusable:
      "the address in \"url\" cannot be used: it must start with http:// or https://, name a host and hold no spaces"
    case .basicIncomplete: "\"basic\" needs both \"username\" and \"password\""
    case .colonInUsername: "the user name in \"basic\" holds a colon, which HTTP cannot carry"
    case .webhookSecret:
      "the secret of \"standardWebhooks\" must be whsec_ followed by 24 to 64 bytes in base64; copy it from the receiver"
    case .headerName(let name): "\"\(name)\" cannot be the name of a header field; rename it in \"headers\""
    case .headerReserved(let name):
      "the header field \"\(name)\" is set by the transfer itself; remove it from \"headers\""
    case .headerValue(let name):
      "the value of the header field \"\(name)\" holds a line break or another control character; mend it in \"headers\""
    case .authorizationTwice:
      "\"headers\" holds Authorization and \"bearer\" or \"basic\" is set too; remove one of them"
    case .notGzip: "the bytes are marked as gzip and are not, so what is in them cannot be signed"
    case .library(let what): "libcurl does not take \(what)"
    }
  }

  var verdict: Verdict {
    switch self {
    case .notGzip: .retry(.source, message)
    case .library: .needsAttention(.other, message)
    default: .needsAttention(.settings, message)
    }
  }
}
