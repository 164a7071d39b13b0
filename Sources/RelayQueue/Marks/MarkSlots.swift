// SPDX-License-Identifier: Apache-2.0

/// Which slot of the file `marks` is written next: never the newest record's, never one that is being written.
///
/// A value without a disk, so that it can be tried under a simulated one.
package struct MarkSlots: Sendable {
  package static let count = 4

  /// The newest record that is on the disk for certain.
  package private(set) var newest: MarkRecord
  /// Its slot; nil before the first.
  private var newestSlot: Int?
  private var next: Int
  private var lastGeneration: UInt64
  private var inFlight: Set<Int> = []
  private var isConfirmed: Bool

  /// - Parameter found: what was found in the file; nil when nothing was.
  package init(found: (slot: Int, record: MarkRecord)?) {
    newest = found?.record ?? MarkRecord()
    newestSlot = found?.slot
    next = found.map { ($0.slot + 1) % Self.count } ?? 0
    lastGeneration = newest.generation
    isConfirmed = found == nil || BrokenQueue.promise(.markConfirm)
  }

  /// The record that was found in the file, until it is on the disk for certain.
  ///
  /// It may only have been in memory, written by a process that was killed, or its sync failed; the next slot may then
  /// hold the only record that is on the disk. So it is written again in place before any other slot is.
  package var unconfirmed: (slot: Int, record: MarkRecord)? {
    isConfirmed ? nil : newestSlot.map { ($0, newest) }
  }

  package mutating func confirm() { isConfirmed = true }

  /// A slot for a record, and the record with its number; nil when all are being written or no number is left.
  package mutating func begin(_ record: MarkRecord) -> (slot: Int, record: MarkRecord)? {
    let order = (0..<Self.count).map { (next + $0) % Self.count }
    guard let free = order.first(where: { $0 != newestSlot && !inFlight.contains($0) }) else { return nil }
    let slot = BrokenQueue.promise(.markSlot) ? 0 : free
    let (generation, overflow) = lastGeneration.addingReportingOverflow(1)
    guard !overflow else { return nil }
    lastGeneration = generation
    next = (slot + 1) % Self.count
    inFlight.insert(slot)
    var numbered = record
    numbered.generation = generation
    return (slot, numbered)
  }

  /// The write of a slot has ended; `written` is nil when it failed: what is in it then counts as nothing.
  package mutating func end(_ slot: Int, _ written: MarkRecord?) {
    inFlight.remove(slot)
    guard let written, written.generation > newest.generation else { return }
    newest = written
    newestSlot = slot
  }
}
