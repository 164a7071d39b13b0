// SPDX-License-Identifier: Apache-2.0
import CZlib

/// Unpacks gzip in pieces; several members one after another count as one.
final class Gunzip {
  private var stream = z_stream()
  private(set) var isComplete = false

  init?() {
    guard relay_inflate_gzip(&stream) == Z_OK else { return nil }
  }

  deinit { inflateEnd(&stream) }

  /// Hands what is in `piece` to `sink`; false when it is not gzip.
  func unpack(_ piece: UnsafeRawBufferPointer, into sink: (UnsafeRawBufferPointer) -> Void) -> Bool {
    let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)
    defer { room.deallocate() }
    stream.next_in = UnsafeMutablePointer(mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.avail_in = UInt32(clamping: piece.count)
    repeat {
      if isComplete {
        guard stream.avail_in > 0 else { return true }
        guard inflateReset(&stream) == Z_OK else { return false }
        isComplete = false
      }
      stream.next_out = room.baseAddress
      stream.avail_out = UInt32(room.count)
      let code = inflate(&stream, Z_NO_FLUSH)
      guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return false }
      sink(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room).prefix(room.count - Int(stream.avail_out))))
      isComplete = code == Z_STREAM_END
    } while stream.avail_in > 0 || stream.avail_out == 0
    return true
  }
}
