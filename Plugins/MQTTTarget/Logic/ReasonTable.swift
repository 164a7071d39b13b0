// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What a reason code of the broker means for what is delivered: docs/targets/mqtt.md prints the same tables.
struct ReasonRule: Equatable {
  enum Action: Equatable {
    case delivered, retry, refused, needsAttention
  }

  /// The packet that carried the code.
  enum Packet: CaseIterable {
    /// The answer to CONNECT by a broker that speaks 3.1.1.
    case connackOf3
    case connackOf5
    /// PUBACK, PUBREC and PUBCOMP.
    case publishAnswer
    /// The broker ends the connection (MQTT 5 only).
    case disconnect
  }

  var action: Action
  var reason: Verdict.Reason
  /// MQTT's name for the code; empty when it has none.
  var name: String
  /// What a person can do about it.
  var advice: String

  init(_ action: Action, _ reason: Verdict.Reason, _ name: String, _ advice: String = "") {
    self.action = action
    self.reason = reason
    self.name = name
    self.advice = advice
  }

  static func rule(for code: Int32, in packet: Packet) -> ReasonRule {
    let unknown = ReasonRule(.retry, .receiver, "")
    switch packet {
    case .connackOf3: return connackOf3[code] ?? unknown
    case .connackOf5: return connackOf5[code] ?? unknown
    case .publishAnswer: return publishAnswer[code] ?? unknown
    case .disconnect: return disconnect[code] ?? unknown
    }
  }

  private static let login = "check \"username\" and \"password\""
  private static let clientID = "set another \"clientId\""
  private static let versions = "set \"version\" to one that it speaks"
  private static let settings = "the broker's settings do not allow what this pipeline asks for"
  private static let notTaken = ReasonRule(.needsAttention, .settings, "QoS not supported", "set a lower \"qos\"")
  private static let noRetain = ReasonRule(
    .needsAttention, .settings, "retain not supported", "set \"retain\" to false, or allow it at the broker")
  private static let elsewhere = ReasonRule(
    .needsAttention, .settings, "use another server", "set \"host\" to the broker that it names")
  private static let moved = ReasonRule(
    .needsAttention, .settings, "server moved", "set \"host\" to the broker that it names")
  private static let tooLarge = ReasonRule(
    .refused, .tooLarge, "packet too large", "make smaller parts, or raise the broker's limit")

  private static let connackOf3: [Int32: ReasonRule] = [
    0: ReasonRule(.delivered, .other, "accepted"),
    1: ReasonRule(.needsAttention, .settings, "unacceptable protocol version", versions),
    2: ReasonRule(.needsAttention, .settings, "client id rejected", clientID),
    3: ReasonRule(.retry, .receiver, "server unavailable"),
    4: ReasonRule(.needsAttention, .credentials, "bad user name or password", login),
    5: ReasonRule(.needsAttention, .credentials, "not authorized", login),
  ]

  private static let connackOf5: [Int32: ReasonRule] = [
    0: ReasonRule(.delivered, .other, "success"),
    128: ReasonRule(.retry, .receiver, "unspecified error"),
    129: ReasonRule(.needsAttention, .settings, "malformed packet", "set \"version\" to 3.1.1, or update the broker"),
    130: ReasonRule(.needsAttention, .settings, "protocol error", "set \"version\" to 3.1.1, or update the broker"),
    131: ReasonRule(.retry, .receiver, "implementation specific error"),
    132: ReasonRule(.needsAttention, .settings, "unsupported protocol version", versions),
    133: ReasonRule(.needsAttention, .settings, "client id not valid", clientID),
    134: ReasonRule(.needsAttention, .credentials, "bad user name or password", login),
    135: ReasonRule(.needsAttention, .credentials, "not authorized", login),
    136: ReasonRule(.retry, .receiver, "server unavailable"),
    137: ReasonRule(.retry, .throttled, "server busy"),
    138: ReasonRule(.needsAttention, .credentials, "banned", "ask whoever runs the broker"),
    140: ReasonRule(.needsAttention, .credentials, "bad authentication method", login),
    144: ReasonRule(.needsAttention, .settings, "topic name invalid", settings),
    149: ReasonRule(.needsAttention, .settings, "packet too large", settings),
    151: ReasonRule(.retry, .throttled, "quota exceeded"),
    153: ReasonRule(.needsAttention, .settings, "payload format invalid", settings),
    154: noRetain,
    155: notTaken,
    156: elsewhere,
    157: moved,
    159: ReasonRule(.retry, .throttled, "connection rate exceeded"),
  ]

  private static let publishAnswer: [Int32: ReasonRule] = [
    0: ReasonRule(.delivered, .other, "success"),
    16: ReasonRule(.delivered, .other, "no matching subscribers"),
    128: ReasonRule(.retry, .receiver, "unspecified error"),
    131: ReasonRule(.retry, .receiver, "implementation specific error"),
    135: ReasonRule(
      .needsAttention, .credentials, "not authorized",
      "the broker does not let this user publish on the topic: allow it there, or correct \"topic\""),
    144: ReasonRule(.refused, .settings, "topic name invalid", "correct \"topic\""),
    145: ReasonRule(.retry, .receiver, "packet identifier in use"),
    146: ReasonRule(.retry, .receiver, "packet identifier not found"),
    149: tooLarge,
    151: ReasonRule(.retry, .receiverFull, "quota exceeded"),
    153: ReasonRule(.refused, .content, "payload format invalid", "see what the broker expects"),
  ]

  private static let disconnect: [Int32: ReasonRule] = [
    0: ReasonRule(.retry, .network, "normal disconnection"),
    128: ReasonRule(.retry, .receiver, "unspecified error"),
    129: ReasonRule(.retry, .receiver, "malformed packet"),
    130: ReasonRule(.retry, .receiver, "protocol error"),
    131: ReasonRule(.retry, .receiver, "implementation specific error"),
    135: ReasonRule(
      .needsAttention, .credentials, "not authorized",
      "the broker does not let this user do what was asked: allow it there, or correct \"topic\""),
    137: ReasonRule(.retry, .throttled, "server busy"),
    139: ReasonRule(.retry, .receiver, "server shutting down"),
    141: ReasonRule(.retry, .network, "keep alive timeout"),
    142: ReasonRule(
      .needsAttention, .settings, "session taken over",
      "another client uses the same client id: find it, or set another \"clientId\""),
    144: ReasonRule(.refused, .settings, "topic name invalid", "correct \"topic\""),
    147: ReasonRule(.retry, .throttled, "receive maximum exceeded"),
    149: tooLarge,
    150: ReasonRule(.retry, .throttled, "message rate too high"),
    151: ReasonRule(.retry, .throttled, "quota exceeded"),
    152: ReasonRule(.retry, .receiver, "administrative action"),
    153: ReasonRule(.refused, .content, "payload format invalid", "see what the broker expects"),
    154: noRetain,
    155: notTaken,
    156: elsewhere,
    157: moved,
    159: ReasonRule(.retry, .throttled, "connection rate exceeded"),
    160: ReasonRule(.retry, .receiver, "maximum connect time"),
  ]
}
