// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Testing

@testable import RelayDelivery

@Suite struct `Denied calls` {
  private static let start = BootTime.now

  @Test func `are answered at once up to a number, then so many a second`() {
    var pace = DenialPace(now: Self.start)
    var answered = 0
    func answer(at milliseconds: Int64) {
      while pace.mayAnswer(at: Self.start.advanced(milliseconds: milliseconds)) {
        pace.answered()
        answered += 1
      }
    }
    answer(at: 0)
    #expect(answered == 200)
    answer(at: 49)
    #expect(answered == 200)
    answer(at: 1049)
    #expect(answered == 220)
    // A clock that stands still or goes back gives nothing, and a long rest no more than the first time.
    answer(at: 0)
    #expect(answered == 220)
    answer(at: 10_000_000)
    #expect(answered == 420)
  }

  @Test func `are told once by number, and counted`() {
    var calls = DeniedCalls()
    #expect(calls.note(59) && calls.note(62) && !calls.note(59) && !calls.note(59) && calls.note(-1))
    #expect(calls.repeated.map(\.call) == [59] && calls.repeated.map(\.times) == [3])
  }

  @Test func `have words for people`() {
    let names: [Int32: String] = [59: "execve", 62: "kill", 165: "mount", 300: "reboot"]
    #expect(
      DeniedCall(59, times: 1, names: names).words
        == "The target tried to start a program (execve), which no target may; it was denied.")
    #expect(DeniedCall(62, times: 1, names: names).words.contains("send a signal to another process (kill)"))
    #expect(DeniedCall(300, times: 1, names: names).words.contains("only the machine's administration does (reboot)"))
    #expect(DeniedCall(7, times: 1, names: [:]).words.contains("(system call 7)"))
    #expect(DeniedCall(165, times: 42, names: names).words == "The target was denied mount 42 times in all.")
  }
}

@Suite struct `Filters made beforehand` {
  private static func bytes(_ numbers: UInt32...) -> [UInt8] {
    numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
  }
  private static let programs = bytes(1, 7, 8) + bytes(2, 1, 2, 3, 4) + bytes(1, 5, 6)
  private static let printed = programs + bytes(2, 59, 6) + Array("execve".utf8) + bytes(62, 4) + Array("kill".utf8)

  @Test func `are read with the names behind them`() throws {
    let filter = try #require(CallFilter(printed: Self.printed))
    #expect(filter.programs == Self.programs)
    #expect(filter.names == [59: "execve", 62: "kill"])
    #expect(CallFilter().programs.isEmpty && CallFilter().names.isEmpty)
  }

  @Test func `are taken whole or not at all`() {
    for count in 0..<Self.printed.count { #expect(CallFilter(printed: Array(Self.printed.prefix(count))) == nil) }
    #expect(CallFilter(printed: Self.printed + [0]) == nil)
    #expect(CallFilter(printed: Self.bytes(.max) + Self.printed) == nil)
    #expect(CallFilter(printed: Self.programs + Self.bytes(.max, .max, .max)) == nil)
    #expect(CallFilter(printed: Self.bytes(0, 0, 0)) == nil)
  }
}
