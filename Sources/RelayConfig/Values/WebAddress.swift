// SPDX-License-Identifier: Apache-2.0

/// The little that the configuration itself must know of URLs.
enum WebAddress {
  /// `http://` or `https://`, a host, and no blanks or control characters.
  static func isGood(_ text: String) -> Bool {
    guard let rest = ["https://", "http://"].first(where: text.hasPrefix).map({ text.dropFirst($0.count) }) else {
      return false
    }
    let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return !host.isEmpty && host.first != ":" && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}
