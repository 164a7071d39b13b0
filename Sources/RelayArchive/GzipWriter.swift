// SPDX-License-Identifier: Apache-2.0
import CArchive
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

  private let archive: OpaquePointer
  private let output: Output

  /// Writes at the output's current offset.
  package init(into output: Descriptor) throws(ArchiveError) {
    self.output = Output(output, try SHA256Hasher())
    guard let archive = archive_write_new() else { throw .library("no memory") }
    self.archive = archive
    let context = Unmanaged.passUnretained(self.output).toOpaque()
    try check(archive_write_set_format_raw(archive))
    try check(archive_write_add_filter_gzip(archive))
    try check(archive_write_set_filter_option(archive, "gzip", "compression-level", "6"))
    try check(archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
    // The last block is not filled up with zeros.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(
      archive_write_open2(
        archive, context, nil,
        { _, context, bytes, count in
          guard let context, let bytes else { return -1 }
          let output = Unmanaged<Output>.fromOpaque(context).takeUnretainedValue()
          return output.take(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
        }, nil, nil))
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_filetype(entry, 0o100000)  // AE_IFREG, a macro that Swift does not see
    try check(archive_write_header(archive, entry))
  }

  deinit { archive_write_free(archive) }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    var rest = bytes
    while !rest.isEmpty {
      let taken = archive_write_data(archive, rest.baseAddress, rest.count)
      guard taken > 0 else { throw problem() }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken))
    }
  }

  /// Writes the rest; nothing can be written afterwards.
  package func finish() throws(ArchiveError) -> Outcome {
    try check(archive_write_close(archive))
    return Outcome(size: output.size, digest: try output.hasher.finish())
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

  private func check(_ code: Int32) throws(ArchiveError) {
    guard code == ARCHIVE_OK else { throw problem() }
  }

  private func problem() -> ArchiveError {
    output.error ?? .library(archive_error_string(archive).map { String(cString: $0) } ?? "unknown error")
  }
}

/// Where libarchive's blocks go. It keeps what went wrong, because libarchive can only carry a number.
private final class Output {
  let descriptor: Descriptor
  let hasher: SHA256Hasher
  var size: Int64 = 0
  var error: ArchiveError?

  init(_ descriptor: Descriptor, _ hasher: SHA256Hasher) {
    self.descriptor = descriptor
    self.hasher = hasher
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard error == nil else { return false }
    do throws(SystemError) { try descriptor.write(bytes) } catch {
      self.error = .system(error)
      return false
    }
    do throws(ArchiveError) { try hasher.update(bytes) } catch {
      self.error = error
      return false
    }
    size += Int64(bytes.count)
    return true
  }
}
