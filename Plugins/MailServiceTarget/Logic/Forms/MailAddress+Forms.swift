// SPDX-License-Identifier: Apache-2.0
import MailSyntax

extension MailAddress {
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
}
