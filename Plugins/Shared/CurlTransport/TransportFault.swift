// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What cannot be sent as it is, in the words that people read.
package enum TransportFault: Error, Equatable {
  /// With the setting that holds the address.
  case addressUnusable(String)
  case headerName(String)
  case headerReserved(String)
  case headerValue(String)
  case library(String)

  package var message: String {
    switch self {
    case .addressUnusable(let setting):
      "the address in \"\(setting)\" cannot be used: it must start with http:// or https://, name a host and hold no spaces"
    case .headerName(let name): "\"\(name)\" cannot be the name of a header field; rename it in \"headers\""
    case .headerReserved(let name):
      "the header field \"\(name)\" is set by the transfer itself; remove it from \"headers\""
    case .headerValue(let name):
      "the value of the header field \"\(name)\" holds a line break or another control character; mend it in \"headers\""
    case .library(let what): "libcurl does not take \(what)"
    }
  }

  package var verdict: Verdict {
    switch self {
    case .library: .needsAttention(.other, message)
    default: .needsAttention(.settings, message)
    }
  }
}
