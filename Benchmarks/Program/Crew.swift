// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// Threads that do the same at one time.
enum Crew {
  /// Runs `body` once on each of so many threads and returns when all are done; the first problem ends the program.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let done = (0..<count).map { _ in Reply<String?>() }
    for number in 0..<count {
      do {
        try startThread("bench-\(number)") {
          do {
            try body(number)
            done[number].set(nil)
          } catch {
            done[number].set("\(error)")
          }
        }
      } catch {
        Arguments.end(error.message)
      }
    }
    for answer in done { if let problem = answer.wait() { Arguments.end(problem) } }
  }

  /// A file without a name that holds so many random bytes.
  static func sample(in folder: Directory, size: Int) throws(SystemError) -> Descriptor {
    var random = SystemRandomNumberGenerator()
    let file = try folder.unnamedFile()
    try file.write((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    return file
  }
}

/// The clock of the receiver and of the scripts, in nanoseconds.
func monotonic() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
