// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// What is wrong with the settings, in the words that people read.
enum MQTTFault: Error, Equatable {
  case hostMissing
  case hostUnusable
  /// With the setting's name.
  case characters(String)
  case tooLong(String)
  /// What is wrong with it: "is empty".
  case topic(String)
  case passwordAlone
  case certificateHalf
  case fileUnreadable(setting: String, path: String, words: String)
  case notPlain(String)
  case discoveryPacked
  case library(String)

  var message: String {
    switch self {
    case .hostMissing: "no broker: set \"host\" to its name or address"
    case .hostUnusable:
      "\"host\" cannot be used: it is the broker's name or address alone, without mqtt://, port, path or spaces"
    case .characters(let setting):
      "\"\(setting)\" holds a line break or another character that MQTT does not carry; mend it"
    case .tooLong(let setting): "\"\(setting)\" is longer than the 65535 bytes that MQTT has room for; shorten it"
    case .topic(let what): "the topic \(what); correct \"topic\""
    case .passwordAlone:
      "there is a \"password\" and no \"username\"; MQTT 3.1.1 has no password without a user, so set both"
    case .certificateHalf: "\"tls\" needs both \"certificate\" and \"key\", or neither"
    case .fileUnreadable(let setting, let path, let words):
      "the file \(path) in \"\(setting)\" cannot be used: \(words)"
    case .notPlain(let setting):
      "\"\(setting)\" may hold only letters, digits, _ and -, since it becomes part of a topic and of an identity"
    case .discoveryPacked:
      "Home Assistant cannot read packed values; remove \"encode\" from \"delivery\", or \"discovery\""
    case .library(let what): "libmosquitto \(what)"
    }
  }

  var verdict: Verdict {
    switch self {
    case .library: .retry(.other, message)
    case .fileUnreadable: .needsAttention(.tls, message)
    default: .needsAttention(.settings, message)
    }
  }
}
