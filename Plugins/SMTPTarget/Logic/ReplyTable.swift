// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What a reply other than yes means, by phase and code: docs/targets/smtp.md prints the same table.
struct ReplyRule: Equatable {
  enum Action: Equatable {
    case retry, refused, needsAttention
    /// Twice a retry, then needs attention.
    case retryTwiceThenAttention
  }

  var action: Action
  var reason: Verdict.Reason
  /// What a person can do about it.
  var advice: String

  private init(_ action: Action, _ reason: Verdict.Reason, _ advice: String = "") {
    self.action = action
    self.reason = reason
    self.advice = advice
  }

  /// The rule for a reply that is not the one hoped for.
  static func rule(_ phase: Conversation.Phase, _ reply: Reply) -> ReplyRule {
    if reply.code == 421 { return ReplyRule(.retry, .throttled) }
    if let rule = byDetail(phase, reply) { return rule }
    switch reply.code {
    case 400...499: return ReplyRule(.retry, reply.code == 452 ? .receiverFull : .receiver)
    case 500...599: return forGood(phase, reply.code)
    // Nothing else is an answer to anything here.
    default: return ReplyRule(.retry, .receiver)
    }
  }

  private static let credentials = ReplyRule(
    .needsAttention, .credentials, "check \"username\" and \"password\"; some providers want an app password")
  private static let sender = ReplyRule(
    .needsAttention, .settings, "check \"from\", and that this account may send as it")
  private static let relay = ReplyRule(
    .needsAttention, .settings,
    "the server won't pass mail on for us: set \"username\" and \"password\", or use the server "
      + "of your provider")
  private static let tooLarge = ReplyRule(.refused, .tooLarge, "the mail is too large for the server")

  private static func forGood(_ phase: Conversation.Phase, _ code: Int) -> ReplyRule {
    switch (phase, code) {
    case (.greeting, _):
      ReplyRule(.retryTwiceThenAttention, .receiver, "the server takes no mail from this address; is \"host\" right?")
    case (.hello, _), (.noop, _), (.quit, _):
      ReplyRule(.needsAttention, .receiver, "the server doesn't want to talk to us; is \"host\" right?")
    case (.startTLS, _):
      ReplyRule(.needsAttention, .tls, "the server can't encrypt; is \"security\" right for \"port\"?")
    case (.login, _): credentials
    case (.sender, 530), (.recipient, 530), (.data, 530), (.mail, 530): credentials
    case (.sender, 552), (.data, 552), (.mail, 552): tooLarge
    case (.sender, _): sender
    case (.recipient, _): ReplyRule(.refused, .notFound)
    case (.data, _), (.mail, _): ReplyRule(.refused, .content, "the server doesn't take this mail")
    }
  }

  /// What the enhanced code, or well-known words, say more exactly than the number.
  private static func byDetail(_ phase: Conversation.Phase, _ reply: Reply) -> ReplyRule? {
    let isForGood = (500...599).contains(reply.code)
    guard isForGood || (400...499).contains(reply.code) else { return nil }
    let saysRelay = reply.text.lowercased().contains("relay")
    switch reply.detail {
    case "7.8" where isForGood: return credentials
    case "3.4" where isForGood && phase != .recipient: return tooLarge
    case "2.2" where phase == .recipient || phase == .mail:
      return ReplyRule(isForGood ? .refused : .retry, .receiverFull, "the mailbox is full")
    case .some(let detail) where detail.hasPrefix("7."):
      guard isForGood else { return ReplyRule(.retry, .throttled) }
      if phase == .recipient { return relay }
      return phase == .mail ? ReplyRule(.refused, .content, "the server takes it for spam or against its rules") : nil
    default: return isForGood && phase == .recipient && saysRelay ? relay : nil
    }
  }

  /// Until when a server that puts strangers off for a while isn't asked again: most want five minutes.
  static func wait(_ phase: Conversation.Phase, _ reply: Reply) -> Duration? {
    guard [450, 451].contains(reply.code) else { return nil }
    let words = reply.text.lowercased()
    let isGreylisting =
      words.contains("greylist") || words.contains("graylist") || reply.detail?.hasPrefix("7.") == true
    return phase == .recipient || isGreylisting ? .seconds(300) : nil
  }
}
