// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Encodes bytes that come in pieces as base64 (RFC 4648, with padding), in one line or in lines that end in CRLF.
///
/// What comes out depends on the bytes alone, not on how they were cut into pieces.
package struct Base64Stream {
  /// Characters of a line, without its end; nil writes no line ends.
  package let lineLength: Int?
  /// Bytes that become one line, or one group of four characters.
  private let unit: Int
  private let lineEnd: Int
  /// Bytes of a unit that is not full yet.
  private var carried: [UInt8] = []

  /// `lineLength` is taken down to a multiple of four, and is at least four.
  package init(lineLength: Int?) {
    self.lineLength = lineLength.map { max($0 / 4, 1) * 4 }
    unit = self.lineLength.map { $0 / 4 * 3 } ?? 3
    lineEnd = self.lineLength == nil ? 0 : 2
    carried.reserveCapacity(unit)
  }

  /// How much `count` bytes become; nil when no number holds it.
  package static func length(of count: UInt64, lineLength: Int?) -> UInt64? {
    let stream = Base64Stream(lineLength: lineLength)
    let unit = UInt64(stream.unit)
    let characters = unit / 3 * 4 + UInt64(stream.lineEnd)
    let (whole, overflow) = (count / unit).multipliedReportingOverflow(by: characters)
    let rest = count % unit
    let last = rest == 0 ? 0 : (rest + 2) / 3 * 4 + UInt64(stream.lineEnd)
    let (sum, second) = whole.addingReportingOverflow(last)
    return overflow || second ? nil : sum
  }

  /// What becomes complete with these bytes; with the last ones all of it, after which the stream can be used anew.
  package mutating func encode(_ input: UnsafeRawBufferPointer, isLast: Bool) -> [UInt8] {
    // The last is for the zero that OpenSSL puts behind what it writes.
    let room = ((carried.count + input.count) / unit + 1) * (unit / 3 * 4 + lineEnd) + 1
    return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(buffer)
      count = fill(output, from: input)
      if isLast, !carried.isEmpty { count = carried.withUnsafeBytes { put($0, into: output, at: count) } }
      if isLast { carried.removeAll(keepingCapacity: true) }
    }
  }

  /// Writes what is complete to the front of `output`, which has room for it.
  private mutating func fill(_ output: UnsafeMutableRawBufferPointer, from input: UnsafeRawBufferPointer) -> Int {
    var rest = input[...]
    var written = 0
    if !carried.isEmpty {
      let missing = rest.prefix(unit - carried.count)
      carried.append(contentsOf: missing)
      rest = rest.dropFirst(missing.count)
      guard carried.count == unit else { return 0 }
      written = carried.withUnsafeBytes { put($0, into: output, at: 0) }
      carried.removeAll(keepingCapacity: true)
    }
    // Without lines everything that is whole is one piece.
    let step = lineLength == nil ? max(rest.count / unit, 1) * unit : unit
    while rest.count >= step {
      written = put(UnsafeRawBufferPointer(rebasing: rest.prefix(step)), into: output, at: written)
      rest = rest.dropFirst(step)
    }
    carried.append(contentsOf: rest)
    return written
  }

  /// Returns where the next piece goes.
  private func put(
    _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, at position: Int
  ) -> Int {
    let count = EVP_EncodeBlock(
      output.baseAddress?.advanced(by: position).assumingMemoryBound(to: UInt8.self),
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count))
    var end = position + Int(count)
    if lineEnd == 2 {
      output[end] = UInt8(ascii: "\r")
      output[end + 1] = UInt8(ascii: "\n")
      end += 2
    }
    return end
  }
}
