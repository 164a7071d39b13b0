// SPDX-License-Identifier: Apache-2.0
import RelayQueue

/// The file `marks` on a disk that forgets: real records in real slots, chosen by the program's own `MarkSlots`.
struct SimulatedMarks {
  enum Content {
    case zeros
    case record(MarkRecord)
    /// Some pieces are of the new record, the others of what was there before.
    case torn(new: MarkRecord, old: MarkRecord?, seed: UInt64)
    case garbage
  }

  private struct Slot {
    var cached = Content.zeros
    /// What is on the disk for certain, when the cache differs.
    var durable = Content.zeros
    var isDirty = false
    var isCertain = true
  }

  private var disk = (0..<MarkSlots.count).map { _ in Slot() }
  /// Of the process that has the file open.
  var slots = MarkSlots(found: nil)

  /// A write into the page cache; `cut` when it failed half-way.
  mutating func write(_ record: MarkRecord, to slot: Int, cut: Bool, _ chance: inout SeededChance) {
    if Self.record(disk[slot].cached) == record {
      // The same bytes once more, whole or in part: nothing changes but that they are written out again.
      disk[slot].isDirty = true
      return
    }
    disk[slot].cached =
      cut
      ? .torn(new: record, old: Self.record(disk[slot].cached), seed: chance.next())
      : .record(record)
    disk[slot].isDirty = true
    disk[slot].isCertain = false
  }

  mutating func synced(_ succeeded: Bool) {
    for slot in disk.indices where disk[slot].isDirty {
      disk[slot].isDirty = false
      guard succeeded else { continue }
      disk[slot].durable = disk[slot].cached
      disk[slot].isCertain = true
    }
  }

  /// Each slot that wasn't synced is as it was, as it was to be, or a mixture.
  mutating func powerCut(_ chance: inout SeededChance) {
    for slot in disk.indices {
      if !disk[slot].isCertain {
        switch chance.below(3) {
        case 0: break
        case 1: disk[slot].durable = disk[slot].cached
        default:
          if case .record(let new) = disk[slot].cached {
            disk[slot].durable = .torn(
              new: new, old: Self.record(disk[slot].durable), seed: chance.next())
          }
        }
      }
      disk[slot].cached = disk[slot].durable
      disk[slot].isCertain = true
      disk[slot].isDirty = false
    }
  }

  mutating func damage() { for slot in disk.indices { disk[slot] = Slot(cached: .garbage, durable: .garbage) } }

  /// Opens the file as `Marks.open` does; true when nothing could be decoded and a new file was begun.
  mutating func open(_ chance: inout SeededChance) -> Bool {
    var newest: (slot: Int, record: MarkRecord)?
    var isBlank = true
    for slot in disk.indices {
      if case .zeros = disk[slot].cached { continue }
      isBlank = false
      guard let record = Self.decoded(disk[slot].cached, isThorough: chance.happens(150)),
        record.generation > newest?.record.generation ?? 0
      else { continue }
      newest = (slot, record)
    }
    slots = MarkSlots(found: newest)
    guard newest == nil, !isBlank else { return false }
    disk = (0..<MarkSlots.count).map { _ in Slot() }
    return true
  }

  /// The newest record that would be found whatever a power cut made of the rest.
  var certain: MarkRecord {
    var newest = MarkRecord()
    for slot in disk {
      if slot.isCertain, case .record(let record) = slot.durable, record.generation > newest.generation {
        newest = record
      }
    }
    return newest
  }

  private static func record(_ content: Content) -> MarkRecord? {
    if case .record(let record) = content { record } else { nil }
  }

  /// Through the program's own encoder and decoder, where the bytes are in doubt and now and then where they aren't.
  private static func decoded(_ content: Content, isThorough: Bool) -> MarkRecord? {
    switch content {
    case .zeros, .garbage: return nil
    case .record(let record): return isThorough ? MarkRecord(slot: record.encoded()[...]) : record
    case .torn(let new, let old, let seed):
      let fresh = new.encoded()
      var bytes = old?.encoded() ?? [UInt8](repeating: 0, count: MarkRecord.slotSize)
      var pieces = SeededChance(seed: seed)
      for start in stride(from: 0, to: MarkRecord.slotSize, by: 16) where pieces.happens(500) {
        bytes.replaceSubrange(start..<start + 16, with: fresh[start..<start + 16])
      }
      return MarkRecord(slot: bytes[...])
    }
  }
}
