// SPDX-License-Identifier: Apache-2.0

/// One mailbox, with the name that people see.
struct MailAddress: Equatable {
  /// Longest local part (RFC 5321, section 4.5.3.1), in bytes.
  private static let longestLocal = 64
  /// Longest name, in bytes.
  private static let longestName = 300

  var name: String?
  var local: String
  /// In ASCII, lower case.
  var domain: String

  /// What servers are told.
  var mailbox: String { "\(local)@\(domain)" }

  /// Such a mailbox needs a server that offers SMTPUTF8.
  var needsUTF8: Bool { !local.utf8.allSatisfy { $0 < 0x80 } }

  /// Reads `a@b` or `Name <a@b>`; nil for anything else, several addresses and quoted local parts included.
  init?(_ text: String) {
    guard !HeaderText.hasControl(text) else { return nil }
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
    guard text.hasPrefix("\"") else { return text.contains { "\"<>".contains($0) } ? nil : String(text) }
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

  /// As it stands in a header field that has `column` characters already; may fold over lines.
  func headerText(at column: Int) -> String {
    guard let name else { return mailbox }
    return "\(HeaderText.phrase(name, at: column)) <\(mailbox)>"
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var trimmed = drop { $0 == " " }
    while trimmed.last == " " { trimmed.removeLast() }
    return trimmed
  }
}
