// SPDX-License-Identifier: Apache-2.0

/// How much a reader takes before it refuses.
package struct JSONLimits: Equatable, Sendable {
  /// Lists and objects inside each other.
  ///
  /// Never more than 512: freeing a tree takes stack for each level.
  package var depth: Int
  /// Size of the whole text in bytes.
  package var bytes: Int
  /// Characters of one number.
  package var numberLength: Int
  /// Problems collected in one pass before the reader gives up.
  package var problems: Int

  package init(depth: Int = 128, bytes: Int = 16 << 20, numberLength: Int = 1000, problems: Int = 100) {
    self.depth = min(max(depth, 1), 512)
    self.bytes = bytes
    self.numberLength = numberLength
    self.problems = problems
  }

  package static let `default` = JSONLimits()
}
