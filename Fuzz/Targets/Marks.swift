// SPDX-License-Identifier: Apache-2.0
import RelaySystem

@testable import RelayQueue

private let slotSize = MarkRecord.slotSize

/// Of four slots the newest good record counts, whatever the others hold; and damage to one never makes up another.
///
/// The input: a byte that says which slots get a true checksum, damage to do later (where, which bit), and then up to four slots,
/// each a length in two bytes and its first bytes.
func marksHold(_ bytes: [UInt8]) throws {
  var input = FuzzInput(bytes)
  let sealed = input.byte()
  let damage = input.short() << 8 | Int(input.byte())
  let cut = input.short()
  var slots: [[UInt8]] = []
  for number in 0..<Marks.slots {
    var slot = input.bytes(input.short() % (slotSize + 1))
    slot += [UInt8](repeating: 0, count: slotSize - slot.count)
    slots.append(sealed >> UInt8(number) & 1 == 1 ? withChecksum(slot) : slot)
  }
  let records = try slots.map(readSlot)
  let file = Array(slots.joined())
  let found = Marks.newest(in: file)
  let newest = records.compactMap { $0?.generation }.max()
  try hold(found?.record.generation == newest, "the newest good record counts")
  if let found { try hold(found.record == records[found.slot], "the record is that of its slot") }

  // One bit of a good slot turned over: the newest record is one that was there before; nothing is made up.
  if records[damage / 8 % file.count / slotSize] != nil {
    let changed = Marks.newest(in: file.flipped(damage))
    try hold(changed == nil || records.contains(changed?.record), "a changed bit makes up no record")
  }
  // Cut anywhere: likewise.
  let short = Marks.newest(in: Array(file.prefix(cut % (file.count + 1))))
  try hold(short == nil || records.contains(short?.record), "a cut makes up no record")
  if let found { try tornWriteHolds(file, found, damage, cut) }
  try fileHolds(Array(file.prefix(cut % 3 == 0 ? cut % (file.count + 1) : file.count)))
}

private func withChecksum(_ slot: [UInt8]) -> [UInt8] {
  var writer = LittleEndianWriter(bytes: Array(slot.prefix(slotSize - 8)))
  writer.put(CRC64.of(writer.bytes[...]))
  return writer.bytes
}

private func readSlot(_ slot: [UInt8]) throws -> MarkRecord? {
  guard let record = MarkRecord(slot: slot[...]) else { return nil }
  let written = record.encoded()
  try hold(written.count == slotSize, "a record fills its slot")
  try hold(MarkRecord(slot: written[...]) == record, "what is read again is what was written")
  return record
}

/// The next write stops anywhere, and disks write sectors: the newest record is the one before or the one written.
private func tornWriteHolds(
  _ file: [UInt8], _ found: (slot: Int, record: MarkRecord), _ damage: Int, _ cut: Int
) throws {
  guard found.record.generation < .max else { return }
  var next = found.record
  next.generation += 1
  next.attempts &+= 1
  let place = (found.slot + 1) % Marks.slots * slotSize
  let whole = next.encoded()
  let sectors = cut % (slotSize / 512 + 1)
  var torn = file
  torn.replaceSubrange(place..<(place + sectors * 512), with: whole[..<(sectors * 512)])
  let after = Marks.newest(in: torn)?.record
  try hold(after == found.record || after == next, "after a torn write the old or the new record counts")
  var rotten = file
  rotten.replaceSubrange(place..<(place + slotSize), with: whole.flipped(damage))
  let survivor = Marks.newest(in: rotten)?.record
  try hold(survivor == found.record, "a damaged new record leaves the old one")
}

/// A file with these bytes opens, and what is written to it is what the next start finds.
private func fileHolds(_ bytes: [UInt8]) throws {
  try FuzzFolder.with { folder in
    try folder.directory.replace(Marks.fileName, with: bytes, durable: false)
    let (marks, finding) = try Marks.open(in: folder.directory, committer: folder.committer)
    let before = Marks.newest(in: bytes)?.record
    try hold(marks.current == before ?? MarkRecord(), "an opened file says what its bytes say")
    if case .setAside = finding { try hold(before == nil, "a file with a good record isn't set aside") }
    var record = marks.current
    record.completedThrough &+= 1
    do {
      try marks.write(record)
    } catch {
      try hold(before?.generation == .max, "a record can be written")
      return
    }
    let again = try Marks.open(in: folder.directory, committer: folder.committer)
    try hold(again.finding == .good, "a file that was opened is good for the next start")
    record.generation = again.marks.current.generation
    try hold(again.marks.current == record, "the next start finds what was written")
  }
}
