// SPDX-License-Identifier: Apache-2.0

/// What of an address that is a secret gives it away already: receivers repeat its path in what they answer, and a redirect repeats
/// all but its beginning.
enum AddressParts {
  /// Shorter ones are ordinary words: "services", "webhooks".
  private static let leastSegment = 16
  private static let least = 8

  /// Path with query, path, query, their long segments and values, and what stands before the host; empty for what is no address.
  static func all(of secret: [UInt8]) -> [[UInt8]] {
    guard let rest = secret.after("://") else { return [] }
    let authorityEnd = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    var parts: [ArraySlice<UInt8>] = []
    if let at = rest[..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) {
      parts += rest[..<at].split(separator: UInt8(ascii: ":"), maxSplits: 1)
    }
    // Without the slash that leads it: not everybody repeats that one.
    let target = rest[authorityEnd...].drop { $0 == UInt8(ascii: "/") }
    let halves = target.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    parts.append(target)
    parts += halves
    for segment in halves.first?.split(separator: UInt8(ascii: "/")) ?? [] where segment.count >= leastSegment {
      parts.append(segment)
    }
    for pair in halves.dropFirst().first?.split(separator: UInt8(ascii: "&")) ?? [] {
      if let value = pair.split(separator: UInt8(ascii: "="), maxSplits: 1).dropFirst().first { parts.append(value) }
    }
    return parts.filter { $0.count >= least }.map(Array.init)
  }
}

extension [UInt8] {
  fileprivate func after(_ mark: String) -> ArraySlice<UInt8>? {
    let wanted = Array(mark.utf8)
    guard count >= wanted.count else { return nil }
    for start in 0...(count - wanted.count) where self[start..<(start + wanted.count)].elementsEqual(wanted) {
      return self[(start + wanted.count)...]
    }
    return nil
  }
}
