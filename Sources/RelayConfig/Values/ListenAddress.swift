// SPDX-License-Identifier: Apache-2.0

/// Where the server listens.
package enum ListenAddress: Equatable, Sendable {
  /// A host name or address (IPv6 without brackets) and a port from 0 to 65535.
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  /// Reads `127.0.0.1:8480`, `[::1]:8480` or `unix:PATH`.
  package init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      // The kernel's sun_path holds 108 bytes with its end.
      guard !path.isEmpty, path.utf8.count < 108, !path.utf8.contains(0) else { return nil }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else { return nil }
    self = .tcp(host: String(host), port: port)
  }
}
