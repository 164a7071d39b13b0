// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What one kind of answer means: docs/targets/mail-service.md prints the same tables.
struct AnswerRule: Equatable {
  enum Action: String {
    case retry
    /// As retry, and the mail may have been taken unless the service recognises repeats.
    case retryUnsure = "retry, *may have been delivered*"
    case retryTomorrow = "retry the next day"
    case retryOnce = "retry once, then needs attention"
    case refused
    case needsAttention = "needs attention"
  }

  /// The code that the service gives beside the status.
  enum Code: Equatable {
    case any
    /// The answer hasn't the service's form.
    case none
    case named(String)
    /// The names that begin with this and a dot, and itself.
    case below(String)

    func matches(_ code: String?, isOwn: Bool) -> Bool {
      switch self {
      case .any: true
      case .none: !isOwn
      case .named(let name): code == name
      case .below(let name): code == name || code?.hasPrefix("\(name).") == true
      }
    }
  }

  var statuses: ClosedRange<Int>
  var code: Code
  /// Must stand in the service's message, in lower case; nil for any.
  var words: String?
  var action: Action
  var reason: Verdict.Reason
  /// What a person can do about it.
  var advice: String

  init(
    _ statuses: ClosedRange<Int>, code: Code = .any, words: String? = nil, _ action: Action,
    _ reason: Verdict.Reason, _ advice: String = ""
  ) {
    self.statuses = statuses
    self.code = code
    self.words = words
    self.action = action
    self.reason = reason
    self.advice = advice
  }

  init(
    _ status: Int, code: Code = .any, words: String? = nil, _ action: Action, _ reason: Verdict.Reason,
    _ advice: String = ""
  ) {
    self.init(status...status, code: code, words: words, action, reason, advice)
  }

  func matches(_ status: Int, _ answer: ServiceAnswer) -> Bool {
    statuses.contains(status) && code.matches(answer.code, isOwn: answer.isOwn)
      && words.map { answer.message.lowercased().contains($0) } ?? true
  }

  /// The first rule of the service that matches, else the first of all services; there is one for every status that is no success.
  static func rule(for status: Int, _ answer: ServiceAnswer, of service: Service) -> AnswerRule {
    (service.rules + common).first { $0.matches(status, answer) } ?? AnswerRule(status, .retryUnsure, .receiver)
  }
}
