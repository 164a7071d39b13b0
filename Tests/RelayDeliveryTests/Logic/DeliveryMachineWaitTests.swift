// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@testable import RelayDelivery

/// How long it waits, what ends a wait, and what doesn't.
@Suite struct `Waits of the delivery machine` {
  @Test func `a retry waits a minute and doubles up to six hours`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    var waits: [Int64] = []
    for _ in 0..<11 {
      it.answer(.retry)
      waits.append(it.wait ?? -1)
      it.pass(milliseconds: it.wait ?? 0)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360].map { $0 * 60_000 })
    #expect(it.sending?.attempt == 12)
    it.answer(.delivered)
    #expect(it.marked.backoffStep == 0)
  }

  @Test(arguments: [(0.0, 54_000), (1.0, 66_000), (0.25, 57_000)] as [(Double, Int64)])
  func `waits are shaken by a tenth`(chance: Double, wait: Int64) {
    #expect(DeliveryRules().backoff(step: 0, chance: chance) == wait)
  }

  @Test(
    arguments: [
      (0, 60_000), (30_000, 60_000), (90_000, 90_000), (UInt64.max, 86_400_000), (86_400_001, 86_400_000),
    ] as [(UInt64, Int64)])
  func `the receiver's wish is never shortened, and counts up to a day`(asked: UInt64, wait: Int64) {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry, after: asked)
    #expect(it.wait == wait)
  }

  @Test func `a wait goes on over a restart and counts no attempt twice`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry)
    it.pass(milliseconds: 20_000)
    for _ in 0..<20 { it.crash() }
    #expect(it.sent.count == 1)
    #expect(it.wait == 40_000)
    it.pass(milliseconds: 40_000)
    #expect(it.sending?.attempt == 2)
  }

  @Test(arguments: [-259_200_000, -1_800_000_000_000, 259_200_000, 500_000_000_000] as [Int64])
  func `a clock that stepped neither stretches a wait nor makes a burst`(step: Int64) {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry)
    it.wall = it.wall.advanced(milliseconds: step)
    it.crash()
    if step < 0 {
      #expect(it.wait == 60_000)
    } else {
      #expect(it.sent.count == 2)
      it.answer(.retry)
      #expect(it.wait == 120_000)
    }
  }

  @Test func `an unsure end waits ten minutes, unless the receiver recognises repeats or the person wants it held`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry, maybe: true)
    #expect(it.wait == 600_000)
    #expect(it.lastMessage?.contains("It may have arrived all the same") == true)
    var idempotent = MachineHarness(rules: DeliveryRules(isIdempotent: true), artifacts: [1: 1])
    idempotent.start()
    idempotent.answer(.retry, maybe: true)
    #expect(idempotent.wait == 60_000)
    #expect(idempotent.lastMessage == "")
    var held = MachineHarness(rules: DeliveryRules(onUnsure: .hold), artifacts: [1: 1])
    held.start()
    held.answer(.retry, maybe: true)
    #expect(held.machine.attention?.code == "delivery.unsure")
    #expect(held.artifacts.count == 1)
  }

  @Test(arguments: [
    ("closed the connection", "closed the connection. It may"), ("No answer.", "No answer. It may"), ("", "It may"),
  ])
  func `what a target says of an unsure end is a sentence before the next one begins`(message: String, start: String) {
    #expect(DeliveryRules.unsureNote(message).hasPrefix(start))
    var held = MachineHarness(rules: DeliveryRules(onUnsure: .hold), artifacts: [1: 1])
    held.start()
    held.answer(.retry, maybe: true, message: message)
    #expect(held.machine.attention?.message.contains(" .") == false)
    #expect(held.machine.attention?.message.contains("closed the connection Look") == false)
  }

  @Test func `try now ends a wait once and keeps the backoff`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry)
    it.handle(.tryNow)
    #expect(it.sent.count == 2)
    it.answer(.retry)
    #expect(it.wait == 120_000)
  }

  @Test(arguments: ["resume", "retry", "settings", "target"])
  func `whatever ends a wait leaves the spacing between deliveries`(what: String) {
    var harness = MachineHarness(rules: DeliveryRules(spacing: 5_000, fingerprint: "f"), artifacts: [1: 3])
    harness.start()
    harness.answer(.delivered)
    harness.pass(milliseconds: 1_000)
    switch what {
    case "resume": harness.handle(.resume)
    case "retry": harness.handle(.tryNow)
    case "settings": harness.handle(.changed)
    default:
      harness.handle(.target(problem: "gone"))
      harness.handle(.target(problem: nil))
    }
    #expect(harness.sent == ["1.1"])
    #expect(harness.wait == 4_000)
    // Also over a restart, which knows only what is on the disk.
    harness.crash()
    harness.handle(.tryNow)
    #expect(harness.sent == ["1.1"])
    harness.pass(milliseconds: 4_000)
    #expect(harness.sent == ["1.1", "1.2"])
    // A wait after a failure is one that a person may end.
    harness.answer(.retry)
    harness.handle(.tryNow)
    #expect(harness.sent == ["1.1", "1.2", "1.2"])
  }
}
