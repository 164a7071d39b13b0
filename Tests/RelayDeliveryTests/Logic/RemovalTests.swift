// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@testable import RelayDelivery

/// When what was delivered leaves the queue.
@Suite struct RemovalTests {
  private func removals(_ it: MachineHarness) -> [[UInt64]] {
    it.done.compactMap { if case .remove(let sequences) = $0 { sequences } else { nil } }
  }

  private func backlog(_ count: UInt64) -> MachineHarness {
    MachineHarness(
      rules: DeliveryRules(spacing: 0, fingerprint: "f"),
      artifacts: Dictionary(uniqueKeysWithValues: (1...count).map { ($0, 1) }))
  }

  @Test func `deliveries that follow each other at once share the sync of their removal`() {
    var it = backlog(40)
    it.start()
    for _ in 0..<40 { it.answer(.delivered) }
    #expect(removals(it) == [Array(1...16), Array(17...32), Array(33...40)])
    #expect(it.artifacts.isEmpty && it.machine.position.pendingRemovals.isEmpty)
  }

  @Test func `with time in between each is removed at once`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1])
    it.start()
    it.answer(.delivered)
    #expect(removals(it) == [[1]])
  }

  @Test func `what was delivered doesn't lie there while the next one takes long`() {
    var it = backlog(3)
    it.start()
    it.answer(.delivered)
    it.pass(milliseconds: 499)
    #expect(removals(it).isEmpty)
    it.pass(milliseconds: 1)
    #expect(removals(it) == [[1]] && it.sending?.sequence == 2)
    it.answer(.delivered)
    it.answer(.retry)
    #expect(removals(it) == [[1], [2]])
  }

  @Test func `what was to be removed before a crash is removed after it`() {
    var it = backlog(3)
    it.start()
    it.answer(.delivered)
    it.answer(.delivered)
    it.artifacts = [3: 1]
    it.crash()
    #expect(removals(it) == [[1, 2]])
    it.answer(.delivered)
    #expect(it.sent == ["1.1", "2.1", "3.1", "3.1"] && it.machine.queue.isEmpty)
  }

  @Test func `a program that stops removes what it has delivered`() {
    var it = backlog(3)
    it.start()
    it.answer(.delivered)
    it.handle(.stopping)
    it.answer(.delivered)
    #expect(removals(it) == [[1, 2]])
  }
}
