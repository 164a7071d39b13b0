// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The words after the command, taken in order; a missing or wrong one ends the program with its usage.
struct Arguments {
  private var rest: ArraySlice<String>

  init(_ words: [String]) { rest = words[...] }

  mutating func text(_ name: String) -> String {
    guard let word = rest.popFirst() else { Self.end("\(name) is missing") }
    return word
  }

  mutating func count(_ name: String) -> Int {
    let word = text(name)
    guard let number = Int(word), (1...100_000_000).contains(number) else { Self.end("\(name) can't be \(word)") }
    return number
  }

  mutating func remaining(_ name: String) -> [String] {
    guard !rest.isEmpty else { Self.end("\(name) is missing") }
    defer { rest = [] }
    return Array(rest)
  }

  static func end(_ problem: String) -> Never {
    let text = """
      relay-bench: \(problem)
      usage: relay-bench bundle STATE DAY FILE…
             relay-bench commits STATE WAITING SECONDS SIZE
             relay-bench fill STATE PIPELINES ARTIFACTS PARTS SIZE
             relay-bench submit STATE ARTIFACTS PARTS SIZE PIPELINE…

      """
    _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(2, $0.baseAddress, $0.count) }
    exit(2)
  }
}
