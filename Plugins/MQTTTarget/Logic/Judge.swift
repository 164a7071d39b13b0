// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// Turns what came back into a verdict.
struct Judge {
  let words: Words

  func verdict(on failure: Connector.Failure) -> Verdict {
    switch failure {
    case .settings(let fault): return fault.verdict
    case .unconnected(let end): return verdict(on: end, words.unconnected(end), allSent: false)
    case .ungreeted(let end): return verdict(on: end, words.ungreeted(end), allSent: false)
    case .refused(let greeting, let speaks5):
      let rule = ReasonRule.rule(for: greeting.code, in: speaks5 ? .connackOf5 : .connackOf3)
      return verdict(rule, greeting.code, words.refused(greeting, speaks5: speaks5), allSent: false)
    }
  }

  func verdict(on end: Publication.End, _ greeting: Told.Greeting?) -> Verdict {
    switch end {
    case .answered(let answer):
      let rule = ReasonRule.rule(for: answer.code, in: .publishAnswer)
      if rule.action == .delivered {
        return .delivered(status: answer.code, message: answer.code == 0 ? "" : "the broker took it: \(rule.name)")
      }
      // PUBCOMP that knows nothing of it, or a code that MQTT does not have: it may have arrived.
      return verdict(rule, answer.code, words.declined(answer), allSent: answer.code < 128 || answer.code == 146)
    case .written:
      return .delivered(message: "sent with QoS 0, which the broker does not confirm")
    case .tooLarge:
      let limit = greeting?.largestPacket.map { ", which takes \($0) bytes" } ?? ""
      return .refused(
        .tooLarge, status: 149,
        "too large for the broker at \(words.place)\(limit); make smaller parts, or raise the broker's limit")
    case .qosTooHigh:
      return .needsAttention(
        .settings, status: 155,
        "the broker at \(words.place) takes messages up to QoS \(greeting?.highestQoS ?? 0); set \"qos\" so")
    case .topicUnfit: return .refused(.settings, MQTTFault.topic("is not one that MQTT carries").message)
    case .broken(let end, let allSent): return verdict(on: end, interrupted(end, allSent), allSent: allSent)
    }
  }

  private func interrupted(_ end: Link.End, _ allSent: Bool) -> String {
    guard allSent else { return words.of(end) }
    switch end {
    case .stopped: return "stopped while waiting for the broker's confirmation"
    case .silent: return "everything was sent, but the broker did not confirm it"
    default: return "everything was sent, but not confirmed: \(words.of(end))"
    }
  }

  func verdict(on end: Link.End, _ message: String, allSent: Bool) -> Verdict {
    switch end {
    case .stopped: return allSent ? .retry(.timeout, message, maybeDelivered: true) : .cancelled
    case .silent: return .retry(.timeout, message, maybeDelivered: allSent)
    case .nameUnknown, .unreachable, .closed: return .retry(.network, message, maybeDelivered: allSent)
    case .nonsense: return .retry(.receiver, message, maybeDelivered: allSent)
    case .library: return .retry(.other, message, maybeDelivered: allSent)
    case .tls(.brokenOff): return .retry(.tls, message, maybeDelivered: allSent)
    case .tls: return .needsAttention(.tls, message)
    case .farewell(let code):
      return verdict(ReasonRule.rule(for: code, in: .disconnect), code, message, allSent: allSent)
    }
  }

  private func verdict(_ rule: ReasonRule, _ code: Int32, _ message: String, allSent: Bool) -> Verdict {
    switch rule.action {
    case .refused: return .refused(rule.reason, status: code, message)
    case .needsAttention: return .needsAttention(rule.reason, status: code, message)
    // A connection that is "accepted" and still no good is no delivery.
    case .retry, .delivered: return .retry(rule.reason, status: code, message, maybeDelivered: allSent)
    }
  }
}
