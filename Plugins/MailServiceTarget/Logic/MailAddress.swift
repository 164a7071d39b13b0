// SPDX-License-Identifier: Apache-2.0

/// One mailbox in ASCII, with the name that people see.
struct MailAddress: Equatable {
  /// Longest forms of RFC 5321, section 4.5.3.1, in bytes.
  private static let longestLocal = 64
  private static let longestDomain = 255
  /// Longest name, in bytes: what Postmark takes.
  private static let longestName = 255

  var name: String?
  var mailbox: String

  /// Reads `a@b` or `Name <a@b>` from a setting, whose name is for the message.
  init(_ text: String, setting: String) throws(MailServiceFault) {
    guard !Self.hasControl(text) else { throw .controlCharacter(setting) }
    var rest = Self.trimmed(text[...])
    if rest.hasSuffix(">") {
      guard let open = rest.lastIndex(of: "<") else { throw .notAnAddress(setting) }
      guard let name = Self.name(Self.trimmed(rest[..<open])) else { throw Self.fault(text, setting) }
      self.name = name.isEmpty ? nil : name
      rest = rest[rest.index(after: open)...].dropLast()
    }
    guard let at = rest.lastIndex(of: "@") else { throw .notAnAddress(setting) }
    let (local, domain) = (rest[..<at], rest[rest.index(after: at)...])
    guard rest.utf8.allSatisfy({ $0 < 0x80 }) else { throw .addressNotASCII(setting) }
    let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...Self.longestLocal).contains(local.utf8.count), local.utf8.allSatisfy(Self.isAtomText),
      domain.utf8.count <= Self.longestDomain, domain.utf8.allSatisfy(Self.isDomainText),
      labels.allSatisfy({ (1...63).contains($0.utf8.count) })
    else { throw Self.fault(text, setting) }
    mailbox = String(rest)
  }

  /// The name without what ends a name or begins something else in a list of addresses (RFC 5322, specials); nil if that is in it.
  var plainName: String? {
    guard let name, !name.unicodeScalars.contains(where: { "()<>[]:;@\\,.\"".unicodeScalars.contains($0) }) else {
      return nil
    }
    return name
  }

  /// As RFC 5322 writes it, but for letters beyond ASCII.
  var quoted: String {
    guard let name else { return mailbox }
    if plainName != nil { return "\(name) <\(mailbox)>" }
    var escaped = ""
    for character in name {
      if character == "\"" || character == "\\" { escaped.append("\\") }
      escaped.append(character)
    }
    return "\"\(escaped)\" <\(mailbox)>"
  }

  /// Whether a text holds what must never get into a header field.
  static func hasControl(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      $0.value < 0x20 || (0x7f...0x9f).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
    }
  }

  private static func fault(_ text: String, _ setting: String) -> MailServiceFault {
    let isList = text.count { $0 == "@" } > 1 && text.contains { $0 == "," || $0 == ";" }
    return isList ? .severalInOne(setting) : .notAnAddress(setting)
  }

  /// A name without its quotes; nil if it cannot be one.
  private static func name(_ text: Substring) -> String? {
    guard text.utf8.count <= longestName else { return nil }
    guard text.hasPrefix("\"") else { return text.contains { "\"<>@".contains($0) } ? nil : String(text) }
    guard text.count >= 2, text.hasSuffix("\"") else { return nil }
    var name = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if !isEscaped, character == "\\" {
        isEscaped = true
        continue
      }
      guard isEscaped || character != "\"" else { return nil }
      name.append(character)
      isEscaped = false
    }
    return isEscaped ? nil : name
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func isDomainText(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-._".utf8.contains(byte) }

  /// RFC 5322, section 3.2.3, with the dot.
  private static func isAtomText(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "!#$%&'*+-/=?^_`{|}~.".utf8.contains(byte)
  }
}
