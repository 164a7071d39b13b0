// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import Testing

@Suite struct `Slots of marks` {
  private func record(_ number: UInt64) -> MarkRecord {
    var record = MarkRecord()
    record.completedThrough = number
    return record
  }

  @Test func `what failed to be written never takes the place of the newest that is on the disk`() throws {
    var slots = MarkSlots(found: nil)
    let begun = slots.begin(record(1))
    let first = try #require(begun)
    slots.end(first.slot, first.record)
    for number in 2..<20 {
      let begun = slots.begin(record(UInt64(number)))
      let next = try #require(begun)
      #expect(next.slot != first.slot && next.record.generation == UInt64(number))
      slots.end(next.slot, nil)
    }
    #expect(slots.newest == first.record)
  }

  @Test func `what was found is written again in place before another slot is`() throws {
    var slots = MarkSlots(found: nil)
    let begun = slots.begin(record(1))
    let first = try #require(begun)
    #expect(slots.unconfirmed == nil)
    var next = MarkSlots(found: (first.slot, first.record))
    #expect(next.unconfirmed?.slot == first.slot && next.unconfirmed?.record == first.record)
    next.confirm()
    #expect(next.unconfirmed == nil)
  }
}
