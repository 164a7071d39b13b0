// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@testable import RelayDelivery

@Suite struct `Delivery machine` {
  @Test func `parts leave in order, artifacts leave in order, with a second in between`() {
    var it = MachineHarness(artifacts: [1: 2, 2: 1])
    it.start()
    #expect(it.sent == ["1.1"])
    it.answer(.delivered)
    #expect(it.sending == nil && it.wait == 1000)
    it.pass(milliseconds: 999)
    #expect(it.sending == nil)
    it.pass(milliseconds: 1)
    it.answer(.delivered)
    #expect(it.artifacts == [2: 1])
    it.pass(milliseconds: 1000)
    it.answer(.delivered)
    #expect(it.sent == ["1.1", "1.2", "2.1"])
    #expect(it.artifacts.isEmpty && it.machine.queue.isEmpty)
    #expect(it.marked.completedThrough == 2)
  }

  @Test func `an artifact is opened once`() {
    var it = MachineHarness(artifacts: [1: 3])
    it.start()
    for _ in 0..<3 {
      it.answer(.delivered)
      it.pass(milliseconds: 1000)
    }
    #expect(it.done.count { $0 == .open(sequence: 1) } == 1)
  }

  @Test func `nothing is sent before what was accepted is marked`() {
    var it = MachineHarness(artifacts: [1: 2])
    it.marksFail = true
    it.start()
    it.answer(.delivered)
    for _ in 0..<100 { it.pass(milliseconds: 5000) }
    #expect(it.sent == ["1.1"])
    it.marksFail = false
    it.pass(milliseconds: 5000)
    #expect(it.sent == ["1.1", "1.2"])
    #expect(it.marked.headPartsDone == 1)
  }

  @Test func `a part that was marked is not sent again after a crash, one that wasn't is sent once more`() {
    var it = MachineHarness(artifacts: [1: 3])
    it.start()
    it.answer(.delivered)
    it.crash()
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["1.1", "1.2"])
    it.crash()
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["1.1", "1.2", "1.2"])
    #expect(it.sending?.attempt == 1)
  }

  @Test func `a refused artifact is set aside and the next one goes`() {
    var it = MachineHarness(artifacts: [1: 3, 2: 1])
    it.start()
    it.answer(.refused, message: "no such field")
    #expect(it.artifacts == [2: 1])
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["1.1", "2.1"])
    #expect(it.marked.completedThrough == 1)
    #expect(it.recordsTooLate == 0)
  }

  @Test func `needs attention stops this pipeline until a person acts, over restarts too`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.needsAttention, message: "401 Unauthorized")
    it.pass(milliseconds: 100_000_000)
    it.handle(.tryNow)
    it.crash()
    it.pass(milliseconds: 100_000_000)
    #expect(it.sent.count == 1)
    #expect(it.machine.state(at: it.boot) == .needsAttention)
    it.handle(.resume)
    #expect(it.sent.count == 2)
    #expect(it.savedAttention == nil)
  }

  @Test func `changed settings end needs attention, while running and at the next start`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.needsAttention)
    it.handle(.rules(DeliveryRules(fingerprint: "g")))
    it.handle(.changed)
    #expect(it.sent.count == 2)
    it.answer(.needsAttention)
    it.machine = DeliveryMachine(rules: DeliveryRules(fingerprint: "h"))
    it.start()
    #expect(it.sent.count == 3)
  }

  @Test func `a test that passes ends needs attention, one that fails doesn't`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.needsAttention)
    it.handle(.testRequested)
    #expect(it.done.contains(.sendTest))
    it.handle(.testEnded(passed: false))
    #expect(it.sent.count == 1)
    it.handle(.testRequested)
    it.handle(.testEnded(passed: true))
    #expect(it.sent.count == 2)
  }

  @Test func `five misbehaviours on one part set its artifact aside, ten in a row need attention`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1, 3: 1])
    it.start()
    for _ in 0..<4 {
      it.answer(.none, message: "crashed (SIGSEGV)")
      it.pass(milliseconds: it.wait ?? 0)
    }
    #expect(it.artifacts.count == 3)
    it.answer(.none, message: "crashed (SIGSEGV)")
    #expect(it.artifacts.keys.sorted() == [2, 3])
    it.pass(milliseconds: 1000)
    for _ in 0..<5 {
      it.answer(.none)
      it.pass(milliseconds: it.wait ?? 0)
    }
    #expect(it.machine.attention?.code == "delivery.target-misbehaves")
    #expect(it.artifacts.keys.sorted() == [2, 3])
    #expect(it.recordsTooLate == 0)
  }

  @Test func `a target that was resumed begins with a clean record`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1, 3: 1])
    it.start()
    while it.machine.attention == nil {
      it.answer(.none)
      it.pass(milliseconds: it.wait ?? 0)
    }
    let left = it.artifacts.count
    it.handle(.resume)
    it.answer(.none)
    #expect(it.artifacts.count == left && it.machine.attention == nil)
  }

  @Test func `a verdict in between ends the row of misbehaviours`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1, 3: 1, 4: 1])
    it.start()
    for round in 0..<4 {
      for _ in 0..<4 {
        it.answer(.none)
        it.pass(milliseconds: it.wait ?? 0)
      }
      it.answer(.delivered)
      it.pass(milliseconds: 1000)
      #expect(it.machine.attention == nil, "round \(round)")
    }
    #expect(it.artifacts.isEmpty)
  }

  @Test func `stopping begins nothing new, and what is cancelled counts nothing`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.handle(.stopping)
    #expect(!it.done.contains(.cancel))
    it.handle(.cancel)
    #expect(it.done.contains(.cancel))
    it.answer(.cancelled)
    #expect(!it.machine.isBusy && it.marked.attempts == 0)
    it.pass(milliseconds: 100_000)
    #expect(it.sent.count == 1)
  }

  @Test func `a target that says it was stopped without being asked misbehaves`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.answer(.cancelled)
    #expect(it.marked.rowMisbehaviours == 1)
  }

  @Test func `a paused pipeline gathers and sends nothing`() {
    var it = MachineHarness()
    it.start()
    it.handle(.pause(byCommand: true, byConfiguration: nil))
    it.submit(1)
    it.crash()
    it.pass(milliseconds: 100_000)
    #expect(it.sent.isEmpty && it.machine.state(at: it.boot) == .paused)
    it.handle(.resume)
    #expect(it.sent == ["1.1"])
  }

  @Test func `dropping sets aside, in flight or waiting, and keeps the others`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1, 3: 1])
    it.start()
    it.handle(.drop(sequence: 3))
    it.handle(.drop(sequence: 1))
    #expect(it.done.contains(.cancel))
    it.answer(.cancelled)
    #expect(it.artifacts.keys.sorted() == [2])
    it.pass(milliseconds: 1000)
    it.answer(.delivered)
    #expect(it.sent == ["1.1", "2.1"])
    #expect(it.artifacts.isEmpty)
  }

  @Test func `a missing target holds the pipeline and its return starts it`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.handle(.target(problem: "no target has the id mine"))
    it.start()
    #expect(it.sent.isEmpty && it.machine.state(at: it.boot) == .needsAttention)
    it.handle(.target(problem: nil))
    #expect(it.sent == ["1.1"])
  }

  @Test func `a worker that can't be started is no attempt and is tried again soon`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.handle(.notStarted(reason: "too many open files"))
    #expect(it.wait == 1000)
    it.pass(milliseconds: 1000)
    #expect(it.sending?.attempt == 1)
    it.handle(.notStarted(reason: "too many open files"))
    #expect(it.wait == 2000)
  }

  @Test func `what was handed back before a worker had it is no attempt and goes out again`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    it.handle(.handedBack)
    #expect(it.sent == ["1.1", "1.1"] && it.sending?.attempt == 1)
    it.handle(.stopping)
    it.handle(.handedBack)
    #expect(it.sent.count == 2 && !it.machine.isBusy && it.marked.attempts == 0)
  }

  @Test func `an artifact that comes to light late is put at the end, never taken for done with or let in between`() {
    var it = MachineHarness(artifacts: [5: 2])
    it.start()
    it.answer(.delivered)
    // A part of 5 is out: 4 must not come in between.
    it.artifacts[4] = 1
    it.handle(.committed(sequence: 4))
    #expect(it.done.contains(.requeue(sequence: 4)) && it.machine.queue.first == 5)
    it.pass(milliseconds: 1000)
    it.answer(.delivered)
    // 5 is done with: 3 would count as done with, too.
    it.handle(.committed(sequence: 3))
    #expect(it.done.contains(.requeue(sequence: 3)) && it.machine.queue.isEmpty)
  }

  @Test func `a move that fails is tried again and nothing is sent meanwhile`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1])
    it.movesFail = true
    it.start()
    it.answer(.refused)
    for _ in 0..<10 { it.pass(milliseconds: 5000) }
    #expect(it.sent == ["1.1"] && it.artifacts.count == 2)
    it.movesFail = false
    it.pass(milliseconds: 5000)
    it.pass(milliseconds: 5000)
    #expect(it.sent == ["1.1", "2.1"])
  }

  @Test func `damage found at opening or while sending sets the artifact aside only`() {
    var it = MachineHarness(artifacts: [1: 1, 2: 1])
    it.start()
    it.handle(.damaged(sequence: 1, reason: "its bytes changed"))
    it.pass(milliseconds: 1000)
    #expect(it.sent == ["1.1", "2.1"])
    #expect(it.done.contains(.moveToCorrupt(sequence: 1, reason: "its bytes changed")))
  }

  @Test func `a head that may go otherwise now is opened anew, and its attempts still count`() {
    var harness = MachineHarness(artifacts: [1: 3])
    harness.start()
    harness.answer(.retry)
    // All parts as one.
    harness.artifacts[1] = 1
    harness.handle(.openAnew)
    #expect(harness.done.filter { $0 == .open(sequence: 1) }.count == 2)
    #expect(harness.wait == 60_000)
    harness.pass(milliseconds: 60_000)
    #expect(harness.sending?.attempt == 2)
    // While something is in flight it ends first.
    harness.handle(.openAnew)
    #expect(harness.done.filter { $0 == .open(sequence: 1) }.count == 2)
    harness.answer(.delivered)
    #expect(harness.artifacts.isEmpty)
  }

  @Test func `the wait of an artifact that can't be read goes with it`() {
    var harness = MachineHarness(artifacts: [1: 1, 2: 1])
    harness.isUnreadable = true
    harness.start()
    harness.isUnreadable = false
    harness.pass(milliseconds: 2_000)
    harness.handle(.drop(sequence: 1))
    harness.pass(milliseconds: 1_000)
    #expect(harness.sent == ["2.1"])
  }

  @Test func `late and foreign events change nothing`() {
    var it = MachineHarness(artifacts: [1: 1])
    it.start()
    let before = it.done.count
    for event: DeliveryEvent in [
      .marked, .movedAway(sequence: 9), .opened(.init(sequence: 9, artifact: .random(), partCount: 1)),
      .verdict(number: 99, DeliveryVerdict(.delivered)), .timer, .damaged(sequence: 9, reason: ""), .placeGranted,
      .testEnded(passed: true), .markFailed(reason: ""), .moveFailed(sequence: 9, reason: ""),
    ] { it.handle(event) }
    #expect(it.done.count == before && it.sending != nil)
  }
}
