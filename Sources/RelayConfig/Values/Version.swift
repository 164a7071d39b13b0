// SPDX-License-Identifier: Apache-2.0

/// A version of three numbers; what follows a hyphen or plus is kept apart and doesn't count when comparing.
package struct Version: Comparable, Sendable {
  package var numbers: [UInt32]

  /// Reads `1.2.3`, `0.1` and `1.2.3-beta`.
  package init?(_ text: String) {
    let core = text.prefix { $0 != "-" && $0 != "+" }
    let parts = core.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.first == UInt8(ascii: "+") ? nil : UInt32($0) }
    guard (1...3).contains(parts.count), numbers.count == parts.count else { return nil }
    self.numbers = numbers + Array(repeating: 0, count: 3 - numbers.count)
  }

  package static func < (left: Version, right: Version) -> Bool {
    left.numbers.lexicographicallyPrecedes(right.numbers)
  }
}
