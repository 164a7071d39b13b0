// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// Copies files of a backup and hashes them on the way; memory is one chunk, however large they are.
final class FileCopy {
  private static let chunkSize = 256 * 1024
  /// So many bytes are written before they are sent to the disk: more of them in memory would hold up the next mark that is
  /// synced on the same file system.
  private static let unsyncedBytes: Int64 = 16 << 20

  /// Which side a failure was on.
  enum Failure: Error {
    case reading(SystemError)
    case writing(SystemError)
    case hashUnavailable
    case stopped
  }

  private let syncsEach: Bool
  private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: FileCopy.chunkSize, alignment: 4096)
  /// The file system said once that it can't share blocks.
  private var cannotClone = false

  init(syncsEach: Bool) { self.syncsEach = syncsEach }

  deinit { chunk.deallocate() }

  /// Copies a file from its beginning, at most `limit` bytes; the offsets of both stay where they are.
  ///
  /// - Parameter goesOn: asked between chunks, with their size.
  func run(
    from source: Descriptor, to destination: Descriptor, limit: Int64? = nil, goesOn: (Int) -> Bool
  ) throws(Failure) -> (size: Int64, digest: Digest) {
    let isCloned = limit == nil && clone(source, destination)
    let hasher: SHA256Hasher
    do { hasher = try SHA256Hasher() } catch { throw .hashUnavailable }
    var (size, unsynced): (Int64, Int64) = (0, 0)
    while true {
      let room = limit.map { Int(clamping: min(Int64(Self.chunkSize), $0 - size)) } ?? Self.chunkSize
      // A clone is read itself: the source may have changed since.
      let from = isCloned ? destination : source
      let bytes = UnsafeMutableRawBufferPointer(rebasing: chunk[..<room])
      let got: Int
      do { got = try from.read(into: bytes, at: size) } catch { throw .reading(error) }
      guard got > 0 else { break }
      let read = UnsafeRawBufferPointer(rebasing: chunk[..<got])
      do { try hasher.update(read) } catch { throw .hashUnavailable }
      do throws(SystemError) {
        if !isCloned {
          try destination.write(read)
          unsynced += Int64(got)
          if unsynced >= Self.unsyncedBytes {
            try destination.syncData()
            unsynced = 0
          }
        }
      } catch {
        throw .writing(error)
      }
      size += Int64(got)
      guard goesOn(got) else { throw .stopped }
      if got < room { break }
    }
    do { if syncsEach { try destination.sync() } } catch { throw .writing(error) }
    do { return (size, try hasher.finish()) } catch { throw .hashUnavailable }
  }

  private func clone(_ source: Descriptor, _ destination: Descriptor) -> Bool {
    guard !cannotClone else { return false }
    if destination.clone(from: source) { return true }
    cannotClone = [EXDEV, EOPNOTSUPP, ENOTTY, ENOSYS].contains(errno)
    return false
  }
}
