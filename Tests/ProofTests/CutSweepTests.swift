// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import Testing

/// A sweep that finds nothing proves something only if it finds what is there.
@Suite struct `The cutting sweep` {
  private func cuts(_ words: [String]) throws -> (status: Int32, output: String) {
    // What hangs must not hang the tests with it.
    try Command.run(["timeout", "-k", "10", "300", "\(Repository.products)/relay-proof", "cuts"] + words)
  }

  /// What the row of a target says: points up, points down, silent, runs, cuts, repeats, violations.
  private func row(_ target: String, _ output: String) throws -> [Int] {
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("\(target) ") }, "\(output)")
    return line.split(separator: " ").dropFirst().prefix(7).compactMap { Int($0) }
  }

  @Test(arguments: [
    ("bad-unheard", "O1 nothing lost"), ("bad-anew", "O3 same bytes and identity"),
    ("bad-garbled", "O3 same bytes and identity"), ("bad-stubborn", "O6 at most one repeat a break"),
  ])
  func `finds a target that breaks its promise, and keeps what it can be understood from`(
    target: String, promise: String
  ) throws {
    let result = try cuts(["--target", target, "--sample", "12"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains(promise), "\(result.output)")
    let violations = try #require(row(target, result.output).last)
    #expect(violations > 0)
    // Each ends with "(kept in FOLDER)".
    let kept = result.output.split(separator: "\n").filter { $0.contains("(kept in ") && $0.hasSuffix(")") }
      .compactMap { $0.split(separator: " ").last.map { String($0.dropLast()) } }
    #expect(kept.count == violations)
    for folder in Set(kept) {
      #expect(File.exists(folder + "/log") && File.exists(folder + "/server/requests"), "\(folder)")
    }
    _ = try kept.first.map { try Command.run(["sh", "-c", "rm -rf \"$(dirname '\($0)')\""]) }
  }

  @Test func `has nothing to say of a target that keeps them, though it is cut each time`() throws {
    let result = try cuts(["--target", "http", "--sample", "6"])
    #expect(result.status == 0, "\(result.output)")
    let numbers = try row("http", result.output)
    #expect(numbers.count == 7)
    let (up, down, silent, runs, cuts, repeats) = (
      numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    )
    #expect(up > 500 && down > 60 && silent == 2 && runs == 14)
    #expect(cuts == runs)
    // An answer that was cut off makes a repeat; a request that was cut off doesn't.
    #expect(repeats > 0 && repeats < runs)
  }

  @Test func `says what it can't try`() throws {
    for words in [["--target", "telegram"], ["--way", "sideways"], ["--way", "up"], ["--sample", "0"]] {
      let result = try cuts(words)
      #expect(result.status == 2, "\(words): \(result.output)")
    }
  }
}
