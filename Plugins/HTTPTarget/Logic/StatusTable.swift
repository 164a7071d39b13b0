// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What each status means for what is delivered: docs/targets/http.md prints the same table.
struct StatusRule: Equatable {
  enum Action: Equatable {
    case delivered, retry, refused, needsAttention
    /// Twice a retry, then refused.
    case retryTwiceThenRefused
    /// One retry when the answer is a web page (a firewall's, most likely), else needs attention.
    case needsAttentionUnlessPage
    /// Needs attention; refused where each part has an address of its own.
    case missing
  }

  var action: Action
  var reason: Verdict.Reason
  /// What a person can do about it.
  var advice: String

  static func rule(for status: Int) -> StatusRule {
    if let rule = special[status] { return rule }
    switch status {
    case 200...299: return StatusRule(.delivered, .other, "")
    case 300...399: return StatusRule(.needsAttention, .settings, "set \"url\" to the address that really takes it")
    case 400...499: return StatusRule(.refused, .content, "see what the receiver expects")
    default: return StatusRule(.retry, .receiver, "")
    }
  }

  private init(_ action: Action, _ reason: Verdict.Reason, _ advice: String) {
    self.action = action
    self.reason = reason
    self.advice = advice
  }

  private static let special: [Int: StatusRule] = {
    let credentials = StatusRule(
      .needsAttention, .credentials, "check the credentials in \"bearer\", \"basic\" or \"headers\"")
    let account = StatusRule(.needsAttention, .other, "the receiver has suspended or limited this account")
    let again = StatusRule(.retry, .receiver, "")
    let throttled = StatusRule(.retry, .throttled, "")
    let unsupported = StatusRule(.refused, .content, "check \"method\", \"httpVersion\" and the media type")
    return [
      401: credentials,
      402: account,
      403: StatusRule(.needsAttentionUnlessPage, .credentials, credentials.advice),
      404: StatusRule(.missing, .notFound, "check \"url\""),
      405: unsupported,
      406: unsupported,
      407: StatusRule(.needsAttention, .credentials, "check the user and password in \"proxy\""),
      408: StatusRule(.retry, .timeout, ""),
      409: StatusRule(
        .retryTwiceThenRefused, .content, "if it means that the receiver has it, set \"conflictIsSuccess\""),
      410: StatusRule(.needsAttention, .notFound, "the receiver says this address is gone for good"),
      413: StatusRule(.refused, .tooLarge, "make smaller parts, or raise the receiver's limit"),
      415: unsupported,
      421: again,
      423: again,
      425: again,
      426: StatusRule(.needsAttention, .settings, "check \"httpVersion\" and whether the receiver wants https"),
      429: throttled,
      451: account,
      501: unsupported,
      503: throttled,
      505: unsupported,
      507: StatusRule(.retry, .receiverFull, "the receiver has no room"),
      511: StatusRule(.retry, .network, "the network wants a sign-in"),
    ]
  }()
}
