// SPDX-License-Identifier: Apache-2.0
import CZlib
import RelaySystem

/// Unpacks a file that `GzipWriter` wrote, piece by piece. Belongs to one thread at a time.
package final class GzipReader {
  private static let chunk = 64 * 1024

  private let input: Descriptor
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: GzipReader.chunk, alignment: 16)
  /// zlib keeps its own pointer to it, so it must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var isAtEnd = false

  /// Reads from the input's current offset.
  package init(_ input: Descriptor) throws(ArchiveError) {
    self.input = input
    stream.initialize(to: z_stream())
    guard relay_inflate_gzip(stream) == Z_OK else { throw .library("zlib", "no memory") }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    room.deallocate()
  }

  /// The next bytes, as many as came; 0 is the end, and then the checksum was right.
  package func read(into chunk: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    guard !chunk.isEmpty else { return 0 }
    stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(clamping: chunk.count)
    let wanted = Int(stream.pointee.avail_out)
    while !isAtEnd && stream.pointee.avail_out > 0 {
      if stream.pointee.avail_in == 0 { try refill() }
      switch inflate(stream, Z_NO_FLUSH) {
      case Z_OK: continue
      case Z_STREAM_END: isAtEnd = true
      default: throw .content("a packed file can't be unpacked")
      }
    }
    return wanted - Int(stream.pointee.avail_out)
  }

  private func refill() throws(ArchiveError) {
    let got: Int?
    do throws(SystemError) { got = try input.read(into: room) } catch { throw .system(error) }
    guard let got, got > 0 else { throw .content("a packed file ends too early") }
    stream.pointee.next_in = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(got)
  }
}
