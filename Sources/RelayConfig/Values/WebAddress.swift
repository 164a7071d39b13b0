// SPDX-License-Identifier: Apache-2.0

/// The little that the configuration itself must know of URLs.
enum WebAddress {
  /// `http://` or `https://`, a host, and no blanks or control characters.
  static func isGood(_ text: String) -> Bool {
    isGood(text, schemes: ["https", "http"]) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  /// One of the schemes, `://` and a host. Of a template the part before its first expression is looked at, and good if it may
  /// still become such an address.
  static func isGood(_ text: String, schemes: [String]) -> Bool {
    let fixed = text.firstRange(of: "{{").map { text[..<$0.lowerBound] }
    let known = fixed ?? text[...]
    guard let separator = known.firstRange(of: "://") else {
      return fixed != nil && schemes.contains { "\($0)://".hasPrefix(known.lowercased()) }
    }
    guard schemes.contains(known[..<separator.lowerBound].lowercased()) else { return false }
    let rest = known[separator.upperBound...]
    let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return host.isEmpty ? fixed != nil && rest.isEmpty : host.first != ":"
  }
}
