// SPDX-License-Identifier: Apache-2.0
import CZlib
import Glibc
import RelaySystem

/// Compresses bytes that come in pieces into a file (RFC 1952): the same bytes for the same content, on every run.
///
/// So the header holds no time and no name, and the level is fixed. Belongs to one thread at a time.
package final class GzipWriter {
  /// What was written.
  package struct Outcome: Equatable, Sendable {
    /// In bytes.
    package var size: Int64
    package var digest: Digest
  }

  private static let level: Int32 = 6
  private static let chunk = 64 * 1024

  private let output: Descriptor
  private let hasher: SHA256Hasher
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: GzipWriter.chunk, alignment: 16)
  /// zlib keeps its own pointer to it, so it must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var size: Int64 = 0

  /// Writes at the output's current offset.
  package init(into output: Descriptor) throws(ArchiveError) {
    self.output = output
    hasher = try SHA256Hasher()
    stream.initialize(to: z_stream())
    guard relay_deflate_gzip(stream, Self.level) == Z_OK else { throw .library("zlib", "no memory") }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    room.deallocate()
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(Self.chunk)
      // zlib reads from it only, though its type says otherwise.
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: piece.base.baseAddress?.advanced(by: piece.startIndex).assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = UInt32(piece.count)
      try deflateAll(Z_NO_FLUSH)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
    }
  }

  /// Writes the rest; nothing can be written afterwards.
  package func finish() throws(ArchiveError) -> Outcome {
    stream.pointee.avail_in = 0
    try deflateAll(Z_FINISH)
    return Outcome(size: size, digest: try hasher.finish())
  }

  /// Compresses all that can be read from `input`, from its current offset to its end.
  package static func compress(_ input: Descriptor, into output: Descriptor) throws(ArchiveError) -> Outcome {
    let writer = try GzipWriter(into: output)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { chunk.deallocate() }
    while true {
      let got: Int?
      do { got = try input.read(into: chunk) } catch { throw .system(error) }
      guard let got else { throw .system(SystemError(call: .read, code: EAGAIN, subject: input.path)) }
      if got == 0 { return try writer.finish() }
      try writer.write(UnsafeRawBufferPointer(rebasing: chunk[..<got]))
    }
  }

  /// Lets zlib work until it wants more input, or has ended.
  private func deflateAll(_ flush: Int32) throws(ArchiveError) {
    while true {
      stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(room.count)
      let code = deflate(stream, flush)
      // Nothing to do is no fault.
      guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
        throw .library("zlib", "deflate gave \(code)")
      }
      let count = room.count - Int(stream.pointee.avail_out)
      try take(UnsafeRawBufferPointer(rebasing: room[..<count]))
      if flush == Z_FINISH ? code == Z_STREAM_END : stream.pointee.avail_out > 0 { return }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    do throws(SystemError) { try output.write(bytes) } catch { throw .system(error) }
    try hasher.update(bytes)
    size += Int64(bytes.count)
  }
}
