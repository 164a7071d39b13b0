// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// What libarchive writes, on its way to the file: collected into large writes, hashed, with the time put where libarchive
/// put the local one, and the directory at its end compared with what was asked for.
///
/// Belongs to one thread at a time.
final class ZipOutput {
  private enum Phase {
    /// So many bytes of an entry's header have passed.
    case header(Int)
    case data
    case directory
  }

  private static let room = 256 * 1024
  /// Of a header before an entry, and where in it the time stands (APPNOTE 4.3.7).
  private static let headerLength = 30
  private static let timeInHeader = 10..<14

  private let file: Descriptor
  private let time: [UInt8]
  private let hasher: SHA256Hasher
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ZipOutput.room, alignment: 16)
  private var filled = 0
  private var phase = Phase.data
  private var directory: ZipDirectory
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
    directory = ZipDirectory(time: time.bytes)
  }

  deinit { buffer.deallocate() }

  /// The next byte begins an entry.
  func beginEntry(_ name: String) {
    phase = .header(0)
    directory.expected.append(Array(name.utf8))
  }

  /// The next byte begins the directory.
  func beginDirectory() { phase = .directory }

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
    try directory.finish()
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
    switch phase {
    case .data: break
    case .directory: for place in bytes.indices { try directory.pass(&bytes[place]) }
    case .header(let passed):
      let count = min(bytes.count, Self.headerLength - passed)
      for place in 0..<count {
        let position = passed + place
        if position < 4 && bytes[place] != ZipDirectory.headerMark[position] {
          throw .library("libarchive", "an entry doesn't begin with its header")
        }
        if Self.timeInHeader.contains(position) { bytes[place] = time[position - Self.timeInHeader.lowerBound] }
      }
      phase = passed + count == Self.headerLength ? .data : .header(passed + count)
    }
  }
}
