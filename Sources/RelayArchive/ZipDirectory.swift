// SPDX-License-Identifier: Apache-2.0

/// The directory at the end of a ZIP as it passes, byte for byte: puts the time into each record and compares the record's
/// name with the one that was asked for.
///
/// That is the one place where readers look for names, and libarchive reads them back only in a locale that has the letters.
struct ZipDirectory {
  static let headerMark: [UInt8] = [0x50, 0x4B, 3, 4]
  private static let recordMark: [UInt8] = [0x50, 0x4B, 1, 2]
  /// Where things stand in a record (APPNOTE 4.3.12).
  private static let flags = 8
  private static let timeInRecord = 12..<16
  private static let lengths = 28..<34
  private static let fixedLength = 46
  /// Bit 11: the name is UTF-8.
  private static let isUTF8: UInt8 = 8

  let time: [UInt8]
  /// The names, in order.
  var expected: [[UInt8]] = []
  private var record = 0
  private var position = 0
  /// Lengths of name, extra fields and comment.
  private var found = [0, 0, 0]
  private var saysUTF8 = false

  init(time: [UInt8]) { self.time = time }

  /// Takes the next byte, which it may change.
  mutating func pass(_ byte: inout UInt8) throws(ArchiveError) {
    // Behind the last record stand only sums.
    guard record < expected.count else { return }
    let name = expected[record]
    switch position {
    case 0..<4: guard byte == Self.recordMark[position] else { throw wrong("begins as none") }
    // Bits 8 to 15.
    case Self.flags + 1: saysUTF8 = byte & Self.isUTF8 != 0
    case Self.timeInRecord: byte = time[position - Self.timeInRecord.lowerBound]
    case Self.lengths:
      let place = position - Self.lengths.lowerBound
      found[place / 2] |= Int(byte) << (place % 2 * 8)
      if place == 5, found[0] != name.count || (!saysUTF8 && name.contains { $0 > 127 }) {
        throw wrong("has another name")
      }
    case Self.fixedLength..<Self.fixedLength + name.count:
      guard byte == name[position - Self.fixedLength] else { throw wrong("has another name") }
    default: break
    }
    position += 1
    if position >= Self.fixedLength && position == Self.fixedLength + found.reduce(0, +) {
      (record, position, found, saysUTF8) = (record + 1, 0, [0, 0, 0], false)
    }
  }

  /// Whether all records came.
  func finish() throws(ArchiveError) {
    guard record == expected.count, position == 0 else { throw wrong("is missing") }
  }

  private func wrong(_ words: String) -> ArchiveError {
    .library("libarchive", "record \(record + 1) of the ZIP's directory \(words)")
  }
}
