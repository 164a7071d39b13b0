// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Testing

@testable import RelayDelivery

private func at(_ milliseconds: Int64) -> BootTime { BootTime(nanoseconds: 0).advanced(milliseconds: milliseconds) }

@Suite struct `Supervision of workers` {
  @Test func `a delivery stalls by silence, never by its length in time`() {
    var clock = StallClock(timeout: 30_000, finalAnswer: 120_000, length: 1000, now: at(0))
    for moment in stride(from: Int64(0), through: 3_600_000, by: 20_000) {
      clock.progressed(at: at(moment))
      #expect(clock.deadline > at(moment))
    }
    #expect(clock.deadline == at(3_630_000))
  }

  @Test func `after everything was read the final answer may take longer`() {
    var clock = StallClock(timeout: 30_000, finalAnswer: 120_000, length: 1000, now: at(0))
    clock.saw(offset: 999, at: at(1000))
    #expect(clock.deadline == at(31_000))
    clock.saw(offset: 1000, at: at(2000))
    #expect(clock.deadline == at(122_000))
    clock.saw(offset: 1000, at: at(100_000))
    #expect(clock.deadline == at(122_000))
  }

  @Test func `a worker is asked, then told, then killed, five seconds apart`() {
    var ladder = KillLadder(now: at(0))
    #expect(ladder.step(at: at(0)) == .ask)
    #expect(ladder.step(at: at(4_999)) == nil)
    #expect(ladder.step(at: at(5_000)) == .terminate)
    #expect(ladder.step(at: at(10_000)) == .kill)
    #expect(ladder.step(at: at(100_000)) == nil)
    #expect(ladder.nextMoment == nil)
  }

  @Test func `a flood of lines is cut and counted`() {
    var lines = LineCollector(now: at(0))
    let found = lines.append(Array(String(repeating: "x\n", count: 10_000).utf8), now: at(0))
    #expect(found.count == 50)
    let more = lines.append(Array("later\n".utf8), now: at(10_000))
    #expect(more == ["(9950 lines left out)", "later"])
  }

  @Test func `a line without an end stays bounded and control characters are gone`() {
    var lines = LineCollector(now: at(0))
    for _ in 0..<1000 { #expect(lines.append(Array(repeating: UInt8(ascii: "y"), count: 65_536), now: at(0)).isEmpty) }
    #expect(lines.end().first?.count == LineCollector.longestLine + 1)
    #expect(lines.append(Array("a\u{1B}[31mb\r\u{202E}\n".utf8), now: at(0)) == ["a [31mb  "])
  }

  @Test func `places go to the longest due, and idle workers give way`() {
    var places = WorkerPlaces(limit: 2)
    #expect(places.request("a", since: at(5)) == [.grant("a")])
    #expect(places.request("b", since: at(6)) == [.grant("b")])
    #expect(places.request("d", since: at(9)) == [])
    #expect(places.request("c", since: at(7)) == [])
    #expect(places.release("a", now: at(10)) == [.dismiss("a")])
    #expect(places.release("b", now: at(11)) == [.dismiss("b")])
    #expect(places.ended("a") == [.grant("c")])
    #expect(places.ended("b") == [.grant("d")])
    #expect(places.count == 2)
  }

  @Test func `a pipeline whose worker is leaving waits until it has ended`() {
    var places = WorkerPlaces(limit: 8)
    #expect(places.request("a", since: at(0)) == [.grant("a")])
    places.markLeaving("a")
    #expect(places.request("a", since: at(1)) == [])
    #expect(places.ended("a") == [.grant("a")])
    #expect(places.request("a", since: at(2)) == [.grant("a")])
  }

  @Test func `idle workers are found by how long they have been idle`() {
    var places = WorkerPlaces(limit: 8)
    _ = places.request("a", since: at(0))
    #expect(places.idle(before: at(100)).isEmpty)
    _ = places.release("a", now: at(10))
    #expect(places.idle(before: at(9)).isEmpty)
    #expect(places.idle(before: at(10)) == ["a"])
  }
}
