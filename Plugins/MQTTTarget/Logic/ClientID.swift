// SPDX-License-Identifier: Apache-2.0
import Glibc
import TargetKit

/// The name by which the broker knows this client.
///
/// Two clients of one name throw each other out, so it belongs to one pipeline on one machine, and stays the same, because brokers
/// show it and may have rules for it.
enum ClientID {
  private static let key = "client-id"
  private static let characters = Array("abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars)

  /// The settings' own, or one that was made once and kept: 22 letters and digits, of the 23 that every broker takes.
  static func forDelivering(_ settings: MQTTSettings, host: Host) throws(Verdict) -> String {
    if let own = settings.clientID { return own }
    if let saved = try saved(host) { return saved }
    let made = random()
    try host.state(.pipeline).put(key, "\(made) \(machine)")
    return made
  }

  /// Another than deliveries use: a check goes on beside them.
  static func forChecking(_ settings: MQTTSettings) -> String { "\(settings.clientID ?? random())c" }

  /// nil when there is none, or when it was made on another machine, from which the state was copied.
  private static func saved(_ host: Host) throws(Verdict) -> String? {
    guard let bytes = try host.state(.pipeline).get(key) else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(
      separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1] == machine[...], !parts[0].isEmpty else { return nil }
    return String(parts[0])
  }

  private static func random() -> String {
    var id = "relay"
    for _ in 0..<17 {
      if let scalar = characters.randomElement() { id.unicodeScalars.append(scalar) }
    }
    return id
  }

  private static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
