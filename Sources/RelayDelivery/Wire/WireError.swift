// SPDX-License-Identifier: Apache-2.0

/// What can be wrong with a frame, coming or going.
///
/// After one of these the line to the worker can't be used any more.
package enum WireError: Error, Equatable, Sendable {
  /// A frame announces more payload than the protocol or its type allows.
  case frameTooLong(type: UInt16, length: UInt64)
  /// The two reserved bytes of a header aren't zero.
  case reservedBytes(UInt16)
  /// A type that no worker sends.
  case unknownType(UInt16)
  /// The payload ends inside of a field.
  case truncated(type: UInt16)
  /// The payload has so many bytes after its last field.
  case trailingBytes(type: UInt16, count: Int)
  /// A field holds a value that it can't have.
  case badField(type: UInt16, value: Int64)
  /// A text or value is longer than its limit.
  case fieldTooLong(type: UInt16, length: Int, limit: Int)
  /// More was appended than one frame can need, without taking frames out.
  case backlog(bytes: Int)
  /// A message to the worker wouldn't fit a frame.
  case messageTooLong(bytes: Int)
  /// A SHA-256 that hasn't 32 bytes.
  case badDigest(bytes: Int)
}

extension WireError {
  /// One sentence for the log.
  package var message: String {
    switch self {
    case .frameTooLong(let type, let length): "the worker announced a frame of type \(type) with \(length) bytes"
    case .reservedBytes(let value): "the worker's frame header has \(value) where zero must be"
    case .unknownType(let type): "the worker sent a frame of unknown type \(type)"
    case .truncated(let type): "the worker's frame of type \(type) ends too early"
    case .trailingBytes(let type, let count): "the worker's frame of type \(type) has \(count) bytes too many"
    case .badField(let type, let value): "the worker's frame of type \(type) holds an impossible \(value)"
    case .fieldTooLong(let type, let length, let limit):
      "the worker's frame of type \(type) holds \(length) bytes where \(limit) are allowed"
    case .backlog(let bytes): "\(bytes) bytes from the worker wait unread"
    case .messageTooLong(let bytes): "the settings and values of this delivery take \(bytes) bytes; 1 MiB is the most"
    case .badDigest(let bytes): "a SHA-256 of \(bytes) bytes"
    }
  }
}
