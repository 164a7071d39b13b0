// SPDX-License-Identifier: Apache-2.0
import CArchive
import Glibc
import RelaySystem

/// Reads a ZIP by libarchive, file by file. Belongs to one thread at a time.
package final class ZipReader {
  /// A file in it, without its bytes.
  package struct Entry: Equatable, Sendable {
    /// In bytes; nil where the archive doesn't say it before the file.
    package var size: Int64?
    /// In seconds since 1970.
    package var modified: Int64
  }

  private static let chunk = 256 * 1024

  private let library: relay_archive_calls
  private let archive: OpaquePointer
  private let input: Input
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: ZipReader.chunk, alignment: 16)

  /// How libarchive gets at the file.
  private final class Input {
    let file: Descriptor
    /// Waits until more is there than so many bytes, and gives how many that are; the same again at the end.
    let available: ((Int64) -> Int64)?
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: ZipReader.chunk, alignment: 16)
    var position: Int64 = 0
    var failure: ArchiveError?

    init(_ file: Descriptor, _ available: ((Int64) -> Int64)?) {
      self.file = file
      self.available = available
    }

    deinit { room.deallocate() }

    func read() -> Int {
      var wanted = room.count
      if let available {
        let (left, overflow) = available(position).subtractingReportingOverflow(position)
        guard !overflow, left > 0 else { return 0 }
        wanted = Int(min(Int64(wanted), left))
      }
      do throws(SystemError) {
        let got = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted]), at: position)
        position += Int64(got)
        return got
      } catch {
        failure = .system(error)
        return -1
      }
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
      do throws(SystemError) {
        let base: Int64 =
          switch whence {
          case SEEK_SET: 0
          case SEEK_CUR: position
          default: try file.status().size
          }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        position = target
        return target
      } catch {
        failure = .system(error)
        return Int64(ARCHIVE_FATAL)
      }
    }
  }

  /// Reads a whole file, whatever its offset, by the directory at its end.
  package init(_ file: Descriptor) throws(ArchiveError) {
    library = try ArchiveLibrary.calls
    input = Input(file, nil)
    archive = try Self.make(library, library.archive_read_support_format_zip_seekable)
    try check(
      library.archive_read_set_seek_callback(archive) { _, client, offset, whence in
        guard let client else { return Int64(ARCHIVE_FATAL) }
        return Unmanaged<Input>.fromOpaque(client).takeUnretainedValue().seek(offset, whence)
      })
    try open()
  }

  /// Reads a file while it is being written, by the headers before its entries.
  ///
  /// - Parameter available: Waits until the file has more than so many bytes, and gives how many it has; when no more will
  ///   come, as many as it was asked about.
  package init(_ file: Descriptor, available: @escaping (_ position: Int64) -> Int64) throws(ArchiveError) {
    library = try ArchiveLibrary.calls
    input = Input(file, available)
    archive = try Self.make(library, library.archive_read_support_format_zip_streamable)
    try open()
  }

  deinit {
    _ = library.archive_read_free(archive)
    room.deallocate()
  }

  private static func make(
    _ library: relay_archive_calls, _ support: (OpaquePointer?) -> Int32
  ) throws(ArchiveError) -> OpaquePointer {
    guard let archive = library.archive_read_new() else { throw .library("libarchive", "no memory") }
    guard support(archive) == ARCHIVE_OK else {
      let problem = ArchiveLibrary.problem(library, archive)
      _ = library.archive_read_free(archive)
      throw problem
    }
    return archive
  }

  private func open() throws(ArchiveError) {
    try check(
      library.archive_read_set_read_callback(archive) { _, client, buffer in
        guard let client else { return -1 }
        let input = Unmanaged<Input>.fromOpaque(client).takeUnretainedValue()
        let got = input.read()
        buffer?.pointee = UnsafeRawPointer(input.room.baseAddress)
        return got
      })
    try check(library.archive_read_set_callback_data(archive, Unmanaged.passUnretained(input).toOpaque()))
    try check(library.archive_read_open1(archive))
  }

  private func check(_ code: Int32) throws(ArchiveError) { if code != ARCHIVE_OK { throw problem } }

  /// The next file; nil at the end.
  package func next() throws(ArchiveError) -> Entry? {
    var entry: OpaquePointer?
    let code = library.archive_read_next_header(archive, &entry)
    if code == ARCHIVE_EOF { return nil }
    // A warning is about names that this process's locale can't hold.
    guard code == ARCHIVE_OK || code == ARCHIVE_WARN, let entry else { throw problem }
    return Entry(
      size: library.archive_entry_size_is_set(entry) == 0 ? nil : library.archive_entry_size(entry),
      modified: Int64(library.archive_entry_mtime(entry)))
  }

  /// The next bytes of the file; none at its end, and then its checksum was right.
  package func read() throws(ArchiveError) -> UnsafeRawBufferPointer {
    let count = library.archive_read_data(archive, room.baseAddress, room.count)
    guard count >= 0 else { throw problem }
    return UnsafeRawBufferPointer(rebasing: room[..<count])
  }

  private var problem: ArchiveError { input.failure ?? ArchiveLibrary.problem(library, archive) }
}
