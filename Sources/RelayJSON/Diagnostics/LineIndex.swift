// SPDX-License-Identifier: Apache-2.0

/// From byte offsets to lines and columns, as an editor shows them: both from 1, columns in Unicode scalars.
///
/// A line ends with LF or CRLF.
package struct LineIndex: Sendable {
  private let bytes: [UInt8]
  private let starts: [Int]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var starts = [0]
    for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
    self.starts = starts
  }

  package var lineCount: Int { starts.count }

  /// An offset past the end is taken as the end.
  package func position(of offset: Int) -> (line: Int, column: Int) {
    let offset = min(max(offset, 0), bytes.count)
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    let column = bytes[starts[low]..<offset].reduce(into: 1) { $0 += $1 & 0xC0 == 0x80 ? 0 : 1 }
    return (low + 1, column)
  }

  /// Bytes of a line with its end; 0 if there is no such line.
  package func length(ofLine number: Int) -> Int {
    guard starts.indices.contains(number - 1) else { return 0 }
    return (starts.indices.contains(number) ? starts[number] : bytes.count) - starts[number - 1]
  }

  /// The line's text without its end; empty if there is no such line.
  ///
  /// Bytes that aren't UTF-8 show as U+FFFD.
  package func line(_ number: Int) -> String { line(number, masking: []) }

  /// The same with the bytes of some ranges blanked by asterisks, one a character.
  package func line(_ number: Int, masking masked: [Range<Int>]) -> String {
    guard starts.indices.contains(number - 1) else { return "" }
    var end = starts.indices.contains(number) ? starts[number] - 1 : bytes.count
    let start = starts[number - 1]
    if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    var shown = [UInt8](bytes[start..<end])
    for range in masked where range.overlaps(start..<end) {
      for offset in range.clamped(to: start..<end) {
        // Only the first byte of a character leaves a mark, so that columns stay right.
        shown[offset - start] = bytes[offset] & 0xC0 == 0x80 ? 0 : UInt8(ascii: "*")
      }
    }
    return String(decoding: masked.isEmpty ? shown : shown.filter { $0 != 0 }, as: UTF8.self)
  }
}
