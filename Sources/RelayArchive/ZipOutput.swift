// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// What libarchive writes, on its way to the file: collected into large writes, hashed, with our time in it, and with each
/// name compared with the one that was asked for.
///
/// Belongs to one thread at a time.
final class ZipOutput {
  private enum Phase {
    case header(ZipRecord)
    case data
    /// Its records have the numbers of the files, from 0.
    case directory(ZipRecord, Int)
    /// Behind the directory's last record stand only sums.
    case sums
  }

  private static let room = 256 * 1024

  private let file: Descriptor
  private let time: [UInt8]
  private let hasher: SHA256Hasher
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ZipOutput.room, alignment: 16)
  private var filled = 0
  private var phase = Phase.data
  /// Of the files, in order, in UTF-8.
  private var names: [[UInt8]] = []
  private let written: (Int64) -> Void
  /// What went wrong, which libarchive can't carry.
  private(set) var failure: ArchiveError?
  /// In bytes, with what is still in the buffer.
  private(set) var size: Int64 = 0

  /// - Parameter written: called with the size of the file after each write.
  init(_ file: Descriptor, _ time: ZipTime, written: @escaping (Int64) -> Void) throws(ArchiveError) {
    self.file = file
    self.time = time.bytes
    self.written = written
    hasher = try SHA256Hasher()
  }

  deinit { buffer.deallocate() }

  /// The next byte begins an entry.
  func beginEntry(_ name: String) {
    names.append(Array(name.utf8))
    phase = .header(ZipRecord(ZipRecord.header, name: Array(name.utf8), time: time))
  }

  /// The next byte begins the directory.
  func beginDirectory() { phase = record(0) }

  /// The directory's record of a file.
  private func record(_ number: Int) -> Phase {
    guard names.indices.contains(number) else { return .sums }
    return .directory(ZipRecord(ZipRecord.entry, name: names[number], time: time), number)
  }

  /// Takes bytes from libarchive; whether that went well.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil else { return false }
    do throws(ArchiveError) {
      var rest = bytes
      while !rest.isEmpty {
        if filled == buffer.count { try flush() }
        let count = min(rest.count, buffer.count - filled)
        let place = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + count])
        place.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
        try amend(place)
        filled += count
        size += Int64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Writes what is left; the digest of all.
  func finish() throws(ArchiveError) -> Digest {
    if let failure { throw failure }
    guard case .sums = phase else { throw .library("libarchive", "the ZIP's directory isn't whole") }
    try flush()
    return try hasher.finish()
  }

  private func flush() throws(ArchiveError) {
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
    do throws(SystemError) { try file.write(bytes) } catch { throw .system(error) }
    try hasher.update(bytes)
    filled = 0
    written(size)
  }

  private func amend(_ bytes: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
    for place in bytes.indices {
      switch phase {
      case .data, .sums: return
      case .header(var record):
        try record.pass(&bytes[place], number: names.count)
        phase = record.isWhole ? .data : .header(record)
      case .directory(var record, let number):
        try record.pass(&bytes[place], number: number + 1)
        phase = record.isWhole ? self.record(number + 1) : .directory(record, number)
      }
    }
  }
}
