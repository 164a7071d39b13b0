// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Testing

@Suite struct `Clocks and identifiers` {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"), (-1000, "1969-12-31T23:59:59Z"),
      (4_102_444_799_000, "2099-12-31T23:59:59Z"), (1_796_054_400_000, "2026-11-30T16:00:00Z"),
    ] as [(Int64, String)])
  func `a moment is written as RFC 3339 and read back`(milliseconds: Int64, text: String) {
    #expect(WallTime(milliseconds: milliseconds).text() == text)
    #expect(WallTime(text)?.milliseconds == milliseconds)
  }

  @Test func `milliseconds survive the way through text`() {
    for milliseconds: Int64 in [1_796_054_400_123, -1, 999, 86_399_999] {
      #expect(WallTime(WallTime(milliseconds: milliseconds).text(milliseconds: true))?.milliseconds == milliseconds)
    }
  }

  @Test(
    arguments: [
      (.max, "9999-12-31T23:59:59.999Z"), (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
      (.min, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `a moment of a far year is written so that it can be read`(milliseconds: Int64, text: String) {
    #expect(WallTime(milliseconds: milliseconds).text(milliseconds: true) == text)
    #expect(WallTime(text)?.text(milliseconds: true) == text)
  }

  @Test(arguments: [
    "", "2026-11-30", "2026-13-30T10:00:00Z", "2026-11-30T25:00:00Z", "2026-11-30 10:00:00Z", "2026-02-30T10:00:00Z",
    "2026-11-31T10:00:00Z", "2025-02-29T10:00:00Z", "9999-12-31T23:59:60Z", "2016-12-31T23:59:60.000Z",
  ])
  func `what is no moment is not read`(text: String) {
    #expect(WallTime(text) == nil)
  }

  @Test func `identifiers of later times sort later and read back`() {
    let early = Identifier.timed(at: WallTime(milliseconds: 1000))
    let late = Identifier.timed(at: WallTime(milliseconds: 2000))
    #expect(early.description < late.description)
    #expect(Identifier(early.description) == early)
    #expect(early.description.dropFirst(14).first == "7")
    #expect(Identifier.random().description.dropFirst(14).first == "4")
    #expect(Identifier("nonsense") == nil)
  }

  @Test func `adding to a moment never overflows`() {
    #expect(BootTime(nanoseconds: .max).advanced(milliseconds: 1).nanoseconds == .max)
    #expect(WallTime(milliseconds: .max).advanced(milliseconds: 1).milliseconds == .max)
  }
}
