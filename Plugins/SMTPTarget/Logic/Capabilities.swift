// SPDX-License-Identifier: Apache-2.0

/// What a server offers in its answer to EHLO.
struct Capabilities: Equatable {
  /// The ways to log in that are used here. Servers that list others beside them often can't do those for the account at hand,
  /// and libcurl doesn't fall back to a second one.
  static let usableLogins = ["PLAIN", "LOGIN"]

  var startsTLS = false
  /// Ways to log in, in the server's order.
  var logins: [String] = []
  /// Bytes of the largest mail; nil when it sets no limit.
  var largest: UInt64?
  /// Takes addresses that are not ASCII.
  var takesUTF8 = false

  init() {}

  /// From the lines of the answer; the first holds the server's name. Words count in capitals alone, as libcurl reads them: what it
  /// wouldn't use is not offered.
  init(lines: [[UInt8]]) {
    for line in lines.dropFirst() {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
      switch words.first {
      case "STARTTLS": startsTLS = true
      case "AUTH": logins += words.dropFirst()
      case "SIZE": largest = words.dropFirst().first.flatMap { UInt64($0) }.flatMap { $0 == 0 ? nil : $0 }
      case "SMTPUTF8": takesUTF8 = true
      default: break
      }
    }
  }

  var canLogIn: Bool { logins.contains { Self.usableLogins.contains($0) } }
}
