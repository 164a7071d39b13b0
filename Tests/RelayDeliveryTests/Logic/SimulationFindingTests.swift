// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@testable import RelayDelivery

/// What the simulation found in the machine, each once by hand.
@Suite struct `Delivery machine, as the simulation tried it` {
  @Test func `an artifact that can't be read for a while doesn't cut a wait short`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry, after: 7_200_000)
    it.isUnreadable = true
    it.crash()
    it.pass(milliseconds: 30_000)
    it.isUnreadable = false
    it.pass(milliseconds: 30_000)
    it.pass(milliseconds: 60_000)
    #expect(it.sent.count == 1 && it.machine.diskProblem == nil)
    #expect(it.wait == 7_080_000)
  }

  @Test func `a damaged artifact doesn't end the wait for the receiver`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1])
    it.start()
    it.answer(.retry, after: 7_200_000)
    it.machine = DeliveryMachine(rules: it.machine.rules)
    it.isUnreadable = true
    it.start()
    it.isUnreadable = false
    // At the second try it turns out to be damaged.
    it.handle(.tryNow)
    it.handle(.damaged(sequence: 1, reason: "its bytes changed"))
    #expect(it.marked.backoffStep == 1 && it.artifacts == [2: 1])
  }

  @Test func `a test while a place is waited for leaves the pipeline able to ask again`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.placesAreShort = true
    it.start()
    it.handle(.testRequested)
    it.handle(.testEnded(passed: false))
    #expect(it.done.count { $0 == .requestPlace } == 2)
    it.handle(.placeGranted)
    #expect(it.sent == ["1.1"])
  }

  @Test func `a part that arrives while its artifact is being dropped doesn't undo the dropping`() {
    var it = MachineHarness(artifacts: [1: 2, 2: 1])
    it.start()
    it.handle(.drop(sequence: 1))
    it.answer(.delivered)
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["1.1", "2.1"] && it.artifacts == [2: 1])
  }

  @Test func `what was found at the start is written anew before anything is sent`() {
    var it = MachineHarness(artifacts: [1: 2])
    var slots = MarkSlots(found: nil)
    it.marked = slots.begin(MarkRecord())?.record ?? MarkRecord()
    it.marksFail = true
    it.start()
    #expect(it.sent.isEmpty)
    it.marksFail = false
    it.pass(milliseconds: 5000)
    #expect(it.sent == ["1.1"])
  }

  @Test func `what was delivered and couldn't be removed before is removed after the start`() {
    var it = MachineHarness()
    it.marked.completedThrough = 3
    it.marked.pendingRemovals = [.init(sequence: 3, artifactID: .random())]
    it.start()
    #expect(it.done.contains(.remove(sequences: [3])) && it.machine.position.pendingRemovals.isEmpty)
  }

  @Test func `an artifact that came to light late is put at the end after a restart too`() {
    var it = MachineHarness(artifacts: [3: 2])
    it.start()
    it.answer(.delivered)
    it.artifacts[2] = 1
    it.crash()
    #expect(it.done.contains(.requeue(sequence: 2)) && it.machine.queue.first == 3)
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["3.1", "3.2"])
  }

  @Test func `try now is heard before the disk was read`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.retry)
    it.machine = DeliveryMachine(rules: it.machine.rules)
    it.handle(.tryNow)
    it.start()
    #expect(it.sent.count == 2)
  }

  @Test
  func
    `settings that changed while the program was down begin with a clean record, as those that change while it runs`()
  {
    var it = MachineHarness(artifacts: [1: 1, 2: 1, 3: 1])
    it.start()
    while it.machine.attention == nil {
      it.answer(.none)
      it.pass(milliseconds: it.wait ?? 0)
    }
    let left = it.artifacts.count
    it.machine = DeliveryMachine(rules: DeliveryRules(fingerprint: "g"))
    it.start()
    it.answer(.none)
    #expect(it.artifacts.count == left && it.machine.attention == nil)
  }

  @Test func `a wish that comes with no verdict counts as little as the verdict`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.none, after: .max)
    #expect(it.wait == 60_000)
  }

  @Test func `a verdict that needs a person ends the row of misbehaviours, too`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.none)
    it.pass(milliseconds: it.wait ?? 0)
    it.answer(.needsAttention)
    #expect(it.marked.rowMisbehaviours == 0)
  }

  @Test func `a refusal ends the row of misbehaviours`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1])
    it.start()
    for _ in 0..<4 {
      it.answer(.none)
      it.pass(milliseconds: it.wait ?? 0)
    }
    it.answer(.refused)
    #expect(it.marked.rowMisbehaviours == 0)
  }
}
