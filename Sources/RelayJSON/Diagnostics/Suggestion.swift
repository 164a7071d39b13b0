// SPDX-License-Identifier: Apache-2.0

/// The nearest of some known words to one that isn't.
package enum Suggestion {
  /// Nil unless one is near: about one slip in three letters.
  ///
  /// The first wins among equals.
  package static func nearest(to word: String, among known: [String]) -> String? {
    let letters = Array(word.lowercased().unicodeScalars.prefix(64))
    let limit = max(1, letters.count / 3)
    var best: (distance: Int, word: String)?
    for candidate in known {
      let distance = distance(letters, Array(candidate.lowercased().unicodeScalars.prefix(64)))
      if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
    }
    return best?.word
  }

  /// `did you mean "endpoint"?`, or nil.
  package static func hint(for word: String, among known: [String]) -> String? {
    nearest(to: word, among: known).map { "did you mean \"\($0)\"?" }
  }

  /// The same for the key of an object; where none is near, the keys that there are.
  package static func hint(forKey key: String, among known: [String]) -> String? {
    if let hint = hint(for: key, among: known) { return hint }
    return (1...12).contains(known.count) ? "known are: \(known.joined(separator: ", "))" : nil
  }

  /// Letters to put in, leave out, change or swap with their neighbour (optimal string alignment).
  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var before = [Int](repeating: 0, count: right.count + 1)
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row] + [Int](repeating: 0, count: right.count)
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        current[column] = min(
          previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          current[column] = min(current[column], before[column - 2] + 1)
        }
      }
      (before, previous) = (previous, current)
    }
    return previous[right.count]
  }
}
