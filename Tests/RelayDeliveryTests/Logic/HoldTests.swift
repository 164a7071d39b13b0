// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@testable import RelayDelivery

/// Where a person decides about what may have arrived, the end of the host in the middle counts, too.
@Suite struct HoldTests {
  private func harness(_ unsure: DeliveryRules.Unsure) -> MachineHarness {
    var it = MachineHarness(
      rules: DeliveryRules(spacing: 0, onUnsure: unsure, fingerprint: "f"), artifacts: [1: 1, 2: 1])
    it.start()
    return it
  }

  @Test func `what was under way when the host died waits for a person, until that one says go on`() {
    var it = harness(.hold)
    #expect(it.sent == ["1.1"] && it.marked.flags == .begun)
    it.crash()
    #expect(it.sent == ["1.1"] && it.machine.attention?.code == "delivery.unsure" && it.marked.flags.isEmpty)
    it.crash()
    #expect(it.sent == ["1.1"] && it.machine.attention != nil)
    it.handle(.resume)
    it.answer(.delivered)
    it.answer(.delivered)
    #expect(it.sent == ["1.1", "1.1", "2.1"] && it.machine.queue.isEmpty && it.marked.flags.isEmpty)
  }

  @Test func `it isn't asked about where a verdict came or the end was wanted`() {
    var it = harness(.hold)
    it.answer(.delivered)
    it.handle(.cancel)
    it.answer(.cancelled)
    #expect(it.marked.flags.isEmpty || it.sending != nil)
    it = harness(.hold)
    it.handle(.stopping)
    it.handle(.cancel)
    it.answer(.cancelled)
    #expect(it.marked.flags.isEmpty)
    it.crash()
    #expect(it.machine.attention == nil && it.sent == ["1.1", "1.1"])
  }

  @Test func `elsewhere nothing is written before a delivery, and it is sent again`() {
    var it = harness(.retry)
    #expect(it.marked.generation == 0 && it.marked.flags.isEmpty)
    it.crash()
    #expect(it.sent == ["1.1", "1.1"])
  }
}
