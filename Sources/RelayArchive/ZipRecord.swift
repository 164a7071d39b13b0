// SPDX-License-Identifier: Apache-2.0

/// A record of a ZIP that speaks of one file, byte for byte as it passes: puts the time into it and compares its name with the
/// one that was asked for.
///
/// libarchive takes both from the zone and the locale of whoever writes; in a locale that lacks the letters it writes others.
struct ZipRecord {
  /// What stands where.
  struct Layout: Sendable {
    let words: String
    let mark: [UInt8]
    /// Bits 8 to 15.
    let flags: Int
    let time: Range<Int>
    /// Of the name first, then of the other things that follow, each in 16 bits.
    let lengths: Range<Int>
    /// Where the name begins.
    let name: Int
  }

  /// Before the bytes of the file (APPNOTE 4.3.7), where readers of streams look.
  static let header = Layout(
    words: "the header of file", mark: [0x50, 0x4B, 3, 4], flags: 7, time: 10..<14, lengths: 26..<30, name: 30)
  /// In the directory at the end (APPNOTE 4.3.12), where all others look.
  static let entry = Layout(
    words: "the directory's record of file", mark: [0x50, 0x4B, 1, 2], flags: 9, time: 12..<16, lengths: 28..<34,
    name: 46)
  /// Bit 11: the name is UTF-8.
  private static let isUTF8: UInt8 = 8

  private let layout: Layout
  /// In UTF-8.
  private let name: [UInt8]
  private let time: [UInt8]
  private var position = 0
  private var lengths = [0, 0, 0]
  private var saysUTF8 = false

  init(_ layout: Layout, name: [UInt8], time: [UInt8]) {
    self.layout = layout
    self.name = name
    self.time = time
  }

  /// Whether its last byte has passed.
  var isWhole: Bool { position >= layout.name && position == layout.name + lengths.reduce(0, +) }

  /// Takes the next byte, which it may change.
  ///
  /// - Parameter number: Of the file, for the error.
  mutating func pass(_ byte: inout UInt8, number: Int) throws(ArchiveError) {
    switch position {
    case layout.mark.indices: guard byte == layout.mark[position] else { throw wrong("isn't there", number) }
    case layout.flags: saysUTF8 = byte & Self.isUTF8 != 0
    case layout.time: byte = time[position - layout.time.lowerBound]
    case layout.lengths:
      let place = position - layout.lengths.lowerBound
      lengths[place / 2] |= Int(byte) << (place % 2 * 8)
    case layout.name..<layout.name + name.count:
      guard byte == name[position - layout.name] else { throw wrong("has another name", number) }
    default: break
    }
    position += 1
    if position == layout.name, lengths[0] != name.count || (!saysUTF8 && name.contains { $0 > 127 }) {
      throw wrong("has another name", number)
    }
  }

  private func wrong(_ words: String, _ number: Int) -> ArchiveError {
    .library("libarchive", "\(layout.words) \(number) in the ZIP \(words)")
  }
}
