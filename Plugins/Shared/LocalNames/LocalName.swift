// SPDX-License-Identifier: Apache-2.0

/// A name that machines of one network give themselves, such as "homeassistant.local": no name server knows it, the machine itself
/// answers who asks everybody (multicast DNS, RFC 6762).
package struct LocalName: Equatable {
  /// In lower case, without a dot at the end.
  let labels: [String]

  /// nil for names that are asked of name servers, and for what is no name.
  package init?(_ host: String) {
    var host = host.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard labels.count >= 2, labels.last == "local", host.utf8.count <= 253,
      labels.allSatisfy({ (1...63).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } })
    else { return nil }
    self.labels = labels
  }
}
