// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The bytes of a request, in constant memory: what stands before the file, the file, what stands after it.
///
/// Their length is known beforehand and they are the same at each attempt, so they can be signed and never need chunks.
package struct RequestBody {
  package let contentType: String
  /// Of the whole body; a form's file has none.
  package let contentEncoding: String?
  package let length: UInt64
  private let source: Source?
  private let sourceLength: UInt64
  private let before: [UInt8]
  private let after: [UInt8]
  package private(set) var offset: UInt64 = 0

  package init(
    _ delivery: Delivery, contentType: String, contentEncoding: String? = nil, before: [UInt8] = [], after: [UInt8] = []
  ) {
    source = delivery.source
    sourceLength = delivery.length
    self.contentType = contentType
    self.contentEncoding = contentEncoding
    self.before = before
    self.after = after
    length = sourceLength.addingReportingOverflow(UInt64(before.count + after.count)).partialValue
  }

  /// A body that is known whole.
  package init(_ bytes: [UInt8], contentType: String) {
    source = nil
    sourceLength = 0
    self.contentType = contentType
    contentEncoding = nil
    before = bytes
    after = []
    length = UInt64(bytes.count)
  }

  /// Whether the next bytes are the file's own.
  package var isInSource: Bool {
    offset >= UInt64(before.count) && offset - UInt64(before.count) < sourceLength
  }

  /// Fills the front of `buffer` with the next bytes; 0 is the end.
  ///
  /// Throws the verdict to end with.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    let count: Int
    let start = UInt64(before.count)
    if offset < start {
      let piece = before.dropFirst(Int(offset)).prefix(buffer.count)
      buffer.copyBytes(from: piece)
      count = piece.count
    } else if offset < start + sourceLength {
      count = try source?.read(into: buffer) ?? 0
      guard count > 0, UInt64(count) <= start + sourceLength - offset else {
        throw .retry(.source, "the bytes to deliver are not as many as announced")
      }
    } else {
      let piece = after.dropFirst(Int(clamping: offset - start - sourceLength)).prefix(buffer.count)
      buffer.copyBytes(from: piece)
      count = piece.count
    }
    offset += UInt64(count)
    return count
  }

  package mutating func rewind() throws(Verdict) {
    guard offset > 0 else { return }
    try source?.rewind()
    offset = 0
  }
}
