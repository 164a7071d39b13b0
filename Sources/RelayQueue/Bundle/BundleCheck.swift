// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayArchive
import RelaySystem
import Synchronization

/// Reads a bundle back and compares it with the parts' manifest, in a thread of its own while the bundle is being written:
/// so that proving it takes hardly longer than making it.
final class BundleCheck: Sendable {
  private struct Growth {
    var size: Int64 = 0
    var isWhole = false
  }

  /// What was written is put on the disk after so many bytes, so that little is left to wait for at the end.
  private static let syncInterval: Int64 = 32 << 20

  private let growth = Mutex(Growth())
  private let news = DispatchSemaphore(value: 0)
  private let result = Reply<Result<Void, ArchiveError>>()

  /// Begins to read the file, from its beginning.
  ///
  /// - Parameter parts: what the bundle must hold, in order.
  init(of file: Descriptor, parts: [Manifest.Content]) throws(SystemError) {
    try startThread("bundle-check") { [self] in
      result.set(Result { () throws(ArchiveError) in try read(file, parts) })
    }
  }

  /// The file holds so many bytes now.
  func grew(to size: Int64) {
    growth.withLock { $0.size = size }
    news.signal()
  }

  /// Nothing is added any more. What was read must have been the parts.
  func finish() throws(ArchiveError) {
    growth.withLock { $0.isWhole = true }
    news.signal()
    try result.wait().get()
  }

  private func available(beyond position: Int64) -> Int64 {
    while true {
      let now = growth.withLock { $0 }
      if now.size > position || now.isWhole { return now.size }
      news.wait()
    }
  }

  private func read(_ file: Descriptor, _ parts: [Manifest.Content]) throws(ArchiveError) {
    let reader = try ZipReader(file) { self.available(beyond: $0) }
    var synced: Int64 = 0
    for (place, part) in parts.enumerated() {
      guard try reader.next() != nil else { throw Self.wrong(place) }
      let hasher = try SHA256Hasher()
      var size: Int64 = 0
      while true {
        let bytes = try reader.read()
        if bytes.isEmpty { break }
        try hasher.update(bytes)
        size += Int64(bytes.count)
        try syncNow(file, &synced)
      }
      guard try hasher.finish() == part.sha256, size == part.size else { throw Self.wrong(place) }
    }
    guard try reader.next() == nil else { throw Self.wrong(parts.count) }
    // Readers that begin with the directory at the end find the same, once all of it is there.
    _ = available(beyond: .max)
    let directory = try ZipReader(file)
    for (place, part) in parts.enumerated() {
      guard try directory.next()?.size == part.size else { throw Self.wrong(place) }
    }
    guard try directory.next() == nil else { throw Self.wrong(parts.count) }
  }

  private func syncNow(_ file: Descriptor, _ synced: inout Int64) throws(ArchiveError) {
    let size = growth.withLock { $0.size }
    guard size - synced >= Self.syncInterval else { return }
    synced = size
    do throws(SystemError) { try file.syncData() } catch { throw .system(error) }
  }

  private static func wrong(_ place: Int) -> ArchiveError {
    .content("read back, file \(place + 1) of the ZIP is not part \(place + 1)")
  }
}
