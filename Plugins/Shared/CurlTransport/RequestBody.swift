// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The bytes of a request, in constant memory: what stands before the file, the file, what stands after it.
///
/// Their length is known beforehand and they are the same at each attempt, so they can be signed and never need chunks.
package struct RequestBody {
  /// How the file stands in the body.
  package enum FileEncoding { case asItIs, base64 }

  /// Bytes of the file that are encoded at once.
  private static let piece = 48 * 1024

  package let contentType: String
  /// Of the whole body; a form's file has none.
  package let contentEncoding: String?
  package let length: UInt64
  private let source: Source?
  private let sourceLength: UInt64
  private let before: [UInt8]
  private let after: [UInt8]
  /// What the file becomes.
  private let fileLength: UInt64
  private let encoding: FileEncoding
  private var encoder = Base64Stream(lineLength: nil)
  /// Encoded and not handed out yet.
  private var ready: ArraySlice<UInt8> = []
  private var sourceRead: UInt64 = 0
  package private(set) var offset: UInt64 = 0

  package init(
    _ delivery: Delivery, contentType: String, contentEncoding: String? = nil, encoding: FileEncoding = .asItIs,
    before: [UInt8] = [], after: [UInt8] = []
  ) {
    source = delivery.source
    sourceLength = delivery.length
    self.contentType = contentType
    self.contentEncoding = contentEncoding
    self.encoding = encoding
    self.before = before
    self.after = after
    switch encoding {
    case .asItIs: fileLength = sourceLength
    case .base64: fileLength = Base64Stream.length(of: sourceLength, lineLength: nil) ?? .max
    }
    let (sum, overflow) = fileLength.addingReportingOverflow(UInt64(before.count + after.count))
    length = overflow ? .max : sum
  }

  /// A body that is known whole.
  package init(_ bytes: [UInt8], contentType: String) {
    source = nil
    sourceLength = 0
    self.contentType = contentType
    contentEncoding = nil
    encoding = .asItIs
    before = bytes
    after = []
    fileLength = 0
    length = UInt64(bytes.count)
  }

  /// Whether the next bytes are the file's own.
  package var isInSource: Bool {
    offset >= UInt64(before.count) && offset - UInt64(before.count) < fileLength
  }

  /// Fills the front of `buffer` with the next bytes; 0 is the end.
  ///
  /// Throws the verdict to end with.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    let count: Int
    let start = UInt64(before.count)
    if offset < start {
      count = Self.copy(before.dropFirst(Int(offset)), into: buffer)
    } else if isInSource {
      count = encoding == .base64 ? try readEncoded(into: buffer) : try source?.read(into: buffer) ?? 0
      guard count > 0, UInt64(count) <= fileLength - (offset - start) else { throw Self.notAsAnnounced }
    } else {
      count = Self.copy(after.dropFirst(Int(clamping: offset - start - fileLength)), into: buffer)
    }
    offset += UInt64(count)
    return count
  }

  package mutating func rewind() throws(Verdict) {
    guard offset > 0 else { return }
    try source?.rewind()
    offset = 0
    sourceRead = 0
    ready = []
    encoder = Base64Stream(lineLength: nil)
  }

  private mutating func readEncoded(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    // Fewer than three bytes of a file that goes on become nothing yet.
    while ready.isEmpty {
      guard let chunk = try source?.next(upTo: Self.piece), UInt64(chunk.count) <= sourceLength - sourceRead else {
        throw Self.notAsAnnounced
      }
      sourceRead += UInt64(chunk.count)
      ready = chunk.withUnsafeBytes { encoder.encode($0, isLast: sourceRead == sourceLength) }[...]
    }
    let count = Self.copy(ready, into: buffer)
    ready = ready.dropFirst(count)
    return count
  }

  private static func copy(_ bytes: ArraySlice<UInt8>, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let piece = bytes.prefix(buffer.count)
    buffer.copyBytes(from: piece)
    return piece.count
  }

  private static let notAsAnnounced = Verdict.retry(.source, "the bytes to deliver are not as many as announced")
}
