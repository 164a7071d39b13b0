// SPDX-License-Identifier: Apache-2.0
import CArchive
import RelaySystem

/// Writes a ZIP (APPNOTE 6.3) as a stream, by libarchive: the same bytes for the same files on every machine with the same
/// libarchive and zlib, whatever its time zone and language.
///
/// All entries are deflated files of owner 0 with mode 0644 and one time; sizes stand in the headers, and ZIP64 only where
/// something is larger than 4 GiB. Memory is a few hundred kilobytes and some hundred bytes an entry. Belongs to one thread
/// at a time.
package final class ZipWriter {
  /// What was written.
  package struct Outcome: Equatable, Sendable {
    /// In bytes.
    package var size: Int64
    package var digest: Digest
  }

  private let library: relay_archive_calls
  private let archive: OpaquePointer
  private let output: ZipOutput
  private let time: ZipTime
  /// Bytes of the entry that are still to come.
  private var owed: Int64 = 0
  private var isFinished = false

  /// Writes at the file's current offset, which should be 0.
  ///
  /// - Parameters:
  ///   - modified: The time of all entries; the nearest from 1980 to 2106 is taken.
  ///   - written: Called with the size of the file after each write.
  package init(
    into file: Descriptor, modified: WallTime, written: @escaping (Int64) -> Void = { _ in }
  ) throws(ArchiveError) {
    library = try ArchiveLibrary.calls
    time = ZipTime(modified)
    output = try ZipOutput(file, time, written: written)
    guard let archive = library.archive_write_new() else { throw .library("libarchive", "no memory") }
    self.archive = archive
    try check(library.archive_write_set_format_zip(archive))
    // Entries that are stored, with their size behind them, can't be read by several readers (Java's is one).
    try check(library.archive_write_zip_set_compression_deflate(archive))
    try check(library.archive_write_set_options(archive, "zip:hdrcharset=UTF-8"))
    // Nothing is held back, so that it is known which bytes begin an entry; and nothing is padded.
    try check(library.archive_write_set_bytes_per_block(archive, 0))
    try check(library.archive_write_set_bytes_in_last_block(archive, 1))
    let client = Unmanaged.passUnretained(output).toOpaque()
    try check(
      library.archive_write_open2(
        archive, client, nil,
        { _, client, bytes, count in
          guard let client, let bytes else { return -1 }
          let output = Unmanaged<ZipOutput>.fromOpaque(client).takeUnretainedValue()
          return output.take(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
        }, nil, nil))
  }

  deinit {
    // Else freeing would write the rest.
    if !isFinished { _ = library.archive_write_fail(archive) }
    _ = library.archive_write_free(archive)
  }

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - name: Without a zero byte; whether it is safe to unpack is the caller's matter.
  ///   - size: In bytes; exactly so many must be written.
  package func begin(_ name: String, size: Int64) throws(ArchiveError) {
    guard let entry = library.archive_entry_new() else { throw .library("libarchive", "no memory") }
    defer { library.archive_entry_free(entry) }
    library.archive_entry_set_pathname_utf8(entry, name)
    library.archive_entry_set_filetype(entry, 0o100000)
    library.archive_entry_set_perm(entry, 0o644)
    library.archive_entry_set_uid(entry, 0)
    library.archive_entry_set_gid(entry, 0)
    library.archive_entry_set_size(entry, size)
    library.archive_entry_set_mtime(entry, time_t(time.seconds), 0)
    output.beginEntry(name)
    try check(library.archive_write_header(archive, entry))
    owed = size
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    guard !bytes.isEmpty else { return }
    let count = library.archive_write_data(archive, bytes.baseAddress, bytes.count)
    guard count >= 0 else { throw problem }
    owed -= Int64(bytes.count)
    // What is more than was said would be cut without a word.
    guard count == bytes.count, owed >= 0 else { throw .content("a file is longer than it was") }
  }

  /// Ends the file that was begun.
  package func end() throws(ArchiveError) {
    guard owed == 0 else { throw .content("a file is shorter than it was") }
    try check(library.archive_write_finish_entry(archive))
  }

  /// Writes the directory; nothing can be written afterwards.
  package func finish() throws(ArchiveError) -> Outcome {
    output.beginDirectory()
    try check(library.archive_write_close(archive))
    isFinished = true
    let digest = try output.finish()
    return Outcome(size: output.size, digest: digest)
  }

  /// A warning is an error, too: it says that something wasn't written as asked for.
  private func check(_ code: Int32) throws(ArchiveError) { if code != ARCHIVE_OK { throw problem } }

  private var problem: ArchiveError { output.failure ?? ArchiveLibrary.problem(library, archive) }
}
