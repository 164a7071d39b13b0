// SPDX-License-Identifier: Apache-2.0

/// A promise that a history shows to be broken.
package struct Violation: Equatable, Sendable, CustomStringConvertible {
  /// The promises, numbered as in docs/reliability.md.
  package enum Promise: String, CaseIterable, Sendable {
    case nothingLost = "O1 nothing lost"
    case inOrder = "O2 in order"
    case sameEachTime = "O3 same bytes and identity"
    case oneAtATime = "O4 one at a time, spaced"
    case nothingInvented = "O5 nothing invented"
    case fewRepeats = "O6 at most one repeat a break"
    case goesOn = "O7 goes on afterwards"
    case noGrowth = "O8 no growth"
    case calmWhenIdle = "O9 calm when idle"
  }

  package var promise: Promise
  package var words: String

  package init(_ promise: Promise, _ words: String) {
    self.promise = promise
    self.words = words
  }

  package var description: String { "\(promise.rawValue): \(words)" }
}
