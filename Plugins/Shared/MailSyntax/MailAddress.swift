// SPDX-License-Identifier: Apache-2.0

/// One mailbox, with the name that people see.
package struct MailAddress: Equatable {
  /// Longest local part (RFC 5321, section 4.5.3.1), in bytes.
  private static let longestLocal = 64
  /// Longest name, in bytes: what the strictest of mail services, Postmark, takes.
  private static let longestName = 255

  package private(set) var name: String?
  package private(set) var local: String
  /// In ASCII, lower case.
  package private(set) var domain: String

  /// What servers are told.
  package var mailbox: String { "\(local)@\(domain)" }

  /// Such a mailbox needs a server that offers SMTPUTF8.
  package var needsUTF8: Bool { !local.utf8.allSatisfy { $0 < 0x80 } }

  /// Reads `a@b` or `Name <a@b>`; nil for anything else, several addresses and quoted local parts included.
  package init?(_ text: String) {
    guard !FieldText.hasControl(text) else { return nil }
    var text = Substring(text).trimmingSpaces
    if text.hasSuffix(">") {
      guard let open = text.lastIndex(of: "<") else { return nil }
      guard let name = Self.name(text[..<open].trimmingSpaces) else { return nil }
      self.name = name.isEmpty ? nil : name
      text = text[text.index(after: open)...].dropLast()
    }
    guard let at = text.lastIndex(of: "@") else { return nil }
    let local = text[..<at]
    guard !local.isEmpty, local.utf8.count <= Self.longestLocal, local.unicodeScalars.allSatisfy(Self.isAtomText),
      let domain = DomainName.ascii(String(text[text.index(after: at)...]))
    else { return nil }
    self.local = String(local)
    self.domain = domain
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
      } else {
        guard isEscaped || character != "\"" else { return nil }
        name.append(character)
        isEscaped = false
      }
    }
    return isEscaped ? nil : name
  }

  /// RFC 5322, section 3.2.3, with RFC 6532's letters and the dot.
  private static func isAtomText(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "0"..."9", "A"..."Z", "a"..."z": true
    default:
      scalar.value >= 0xa0 ? !scalar.properties.isWhitespace : "!#$%&'*+-/=?^_`{|}~.".unicodeScalars.contains(scalar)
    }
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var trimmed = drop { $0 == " " }
    while trimmed.last == " " { trimmed.removeLast() }
    return trimmed
  }
}
