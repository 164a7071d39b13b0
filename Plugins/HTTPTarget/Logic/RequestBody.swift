// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// The bytes of a request, in constant memory: what stands before the file, the file, what stands after it.
///
/// Their length is known beforehand and they are the same at each attempt, so they can be signed and never need chunks.
struct RequestBody {
  let contentType: String
  /// Of the whole body; a form's file has none.
  let contentEncoding: String?
  let length: UInt64
  let source: Source
  private let sourceLength: UInt64
  private let before: [UInt8]
  private let after: [UInt8]
  private(set) var offset: UInt64 = 0

  init(_ delivery: Delivery, form: HTTPSettings.Body) {
    source = delivery.source
    sourceLength = delivery.length
    let mediaType = delivery.mediaType.isEmpty ? "application/octet-stream" : delivery.mediaType
    switch form {
    case .raw:
      contentType = mediaType
      contentEncoding = delivery.contentEncoding
      before = []
      after = []
    case .multipart(let field):
      let boundary = "relay-" + delivery.deliveryID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
      let packed = delivery.contentEncoding == "gzip"
      contentType = "multipart/form-data; boundary=\(boundary)"
      contentEncoding = nil
      let name = Self.quoted(delivery.fileName + (packed ? ".gz" : ""))
      let head = [
        "--\(boundary)", "Content-Disposition: form-data; name=\"\(Self.quoted(field))\"; filename=\"\(name)\"",
        "Content-Type: \(packed ? "application/gzip" : Self.quoted(mediaType))", "", "",
      ]
      before = Array(head.joined(separator: "\r\n").utf8)
      after = Array("\r\n--\(boundary)--\r\n".utf8)
    }
    length = sourceLength.addingReportingOverflow(UInt64(before.count + after.count)).partialValue
  }

  /// Whether the next bytes are the file's own.
  var isInSource: Bool {
    offset >= UInt64(before.count) && offset - UInt64(before.count) < sourceLength
  }

  /// Fills the front of `buffer` with the next bytes; 0 is the end.
  ///
  /// Throws the verdict to end with.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Verdict) -> Int {
    let count: Int
    let start = UInt64(before.count)
    if offset < start {
      let piece = before.dropFirst(Int(offset)).prefix(buffer.count)
      buffer.copyBytes(from: piece)
      count = piece.count
    } else if offset < start + sourceLength {
      count = try source.read(into: buffer)
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

  mutating func rewind() throws(Verdict) {
    guard offset > 0 else { return }
    try source.rewind()
    offset = 0
  }

  /// As browsers write names in forms (WHATWG): quotes and line breaks percent-encoded, the rest as it is.
  private static func quoted(_ name: String) -> String {
    var quoted = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": quoted += "%22"
      case "\r": quoted += "%0D"
      case "\n": quoted += "%0A"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted
  }
}
