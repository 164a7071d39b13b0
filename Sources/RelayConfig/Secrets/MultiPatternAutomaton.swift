// SPDX-License-Identifier: Apache-2.0

/// Finds many byte patterns in one pass (Aho and Corasick, "Efficient string matching", 1975).
struct MultiPatternAutomaton: Sendable {
  private struct State: Sendable {
    var next: [UInt8: Int] = [:]
    /// Bytes from the start to here.
    var depth = 0
    /// Where to go on when no byte fits: the state of the longest proper suffix.
    var failure = 0
    /// Patterns that end here, not counting those of shorter suffixes.
    var ending: [Int] = []
    /// The nearest state down the failures in which a pattern ends.
    var shorter: Int?
  }

  private var states = [State()]

  init(_ patterns: [[UInt8]]) {
    for (index, pattern) in patterns.enumerated() where !pattern.isEmpty {
      var state = 0
      for byte in pattern {
        if let next = states[state].next[byte] {
          state = next
        } else {
          states.append(State(depth: states[state].depth + 1))
          states[state].next[byte] = states.count - 1
          state = states.count - 1
        }
      }
      states[state].ending.append(index)
    }
    var queue = Array(states[0].next.values)
    var position = 0
    while position < queue.count {
      let state = queue[position]
      position += 1
      let failure = states[state].failure
      states[state].shorter = states[failure].ending.isEmpty ? states[failure].shorter : failure
      for (byte, next) in states[state].next {
        states[next].failure = step(from: failure, byte)
        queue.append(next)
      }
    }
  }

  private func step(from start: Int, _ byte: UInt8) -> Int {
    var state = start
    while true {
      if let next = states[state].next[byte] { return next }
      if state == 0 { return 0 }
      state = states[state].failure
    }
  }

  /// Calls `body` with each pattern's index and the offset behind its end, in the order of ends.
  ///
  /// - Returns: how many of the last bytes are the beginning of a pattern.
  @discardableResult
  func forEachMatch(in bytes: [UInt8], _ body: (_ pattern: Int, _ end: Int) -> Void) -> Int {
    var state = 0
    for (offset, byte) in bytes.enumerated() {
      state = step(from: state, byte)
      var ending: Int? = states[state].ending.isEmpty ? states[state].shorter : state
      while let found = ending {
        for pattern in states[found].ending { body(pattern, offset + 1) }
        ending = states[found].shorter
      }
    }
    return states[state].depth
  }
}
