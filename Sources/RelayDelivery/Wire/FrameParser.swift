// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import TargetABI

/// Cuts a worker's byte stream into messages.
///
/// Anything may come in; what isn't a message ends the stream with an error, and the same error comes back from then on.
///
/// Memory: what one frame may need and one more chunk, as long as `next` is called until nil after each `append`.
package struct FrameParser: Sendable {
  private var buffer: [UInt8] = []
  private var position = 0
  private var failure: WireError?

  package init() {}

  /// Bytes that aren't part of a message yet; more than 0 at the end of the stream means that it broke off inside of a frame.
  package var unreadBytes: Int { buffer.count - position }

  /// Takes what was read from the socket; chunks may be cut anywhere.
  ///
  /// At most 1 MiB at once.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
    if let failure { throw failure }
    if position > 0 {
      buffer.removeSubrange(0..<position)
      position = 0
    }
    let limit = 2 * Int(RELAY_FRAME_MAXIMUM) + Int(RELAY_FRAME_HEADER)
    guard bytes.count <= limit - buffer.count else { throw fail(.backlog(bytes: buffer.count)) }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole frame, or nil until more was appended.
  ///
  /// A header that can't be right is refused before its payload came.
  package mutating func next() throws(WireError) -> WorkerFrame? {
    if let failure { throw failure }
    let headerEnd = position + Int(RELAY_FRAME_HEADER)
    guard headerEnd <= buffer.count else { return nil }
    do throws(WireError) {
      var header = WireReader(type: 0, bytes: buffer, range: position..<headerEnd)
      let length = try header.u32()
      let type = try header.u16()
      let reserved = try header.u16()
      let requestID = try header.u64()
      guard reserved == 0 else { throw .reservedBytes(reserved) }
      guard let limit = Self.payloadLimit(type) else { throw .unknownType(type) }
      guard length <= limit else { throw .frameTooLong(type: type, length: UInt64(length)) }
      let end = headerEnd + Int(length)
      guard end <= buffer.count else { return nil }
      var payload = WireReader(type: type, bytes: buffer, range: headerEnd..<end)
      let message = try payload.message()
      position = end
      return WorkerFrame(requestID: requestID, message: message)
    } catch {
      throw fail(error)
    }
  }

  private mutating func fail(_ error: WireError) -> WireError {
    failure = error
    buffer = []
    position = 0
    return error
  }

  /// The most a payload of this type can have, nil for a type that no worker sends.
  private static func payloadLimit(_ type: UInt16) -> UInt32? {
    let message = UInt32(RELAY_MAXIMUM_MESSAGE)
    switch UInt32(type) {
    case RELAY_FRAME_MANIFEST: return UInt32(RELAY_MAXIMUM_MANIFEST) + 4
    case RELAY_FRAME_RESULT: return message + UInt32(RELAY_MAXIMUM_RECEIPT) + 512
    case RELAY_FRAME_OPENED, RELAY_FRAME_LOG, RELAY_FRAME_LOAD_FAILED: return message + 64
    case RELAY_FRAME_STATE_GET...RELAY_FRAME_STATE_NEXT: return UInt32(RELAY_MAXIMUM_STATE_VALUE) + 512
    case RELAY_FRAME_HELLO...RELAY_FRAME_CONFINED: return 64
    default: return nil
    }
  }
}
