// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// Copies one source into a part's file, chunk by chunk, hashing on the way.
package struct PartCopy {
  package static let chunkSize = 256 * 1024

  package struct Outcome {
    package var stored: Manifest.Content
    /// Where it was encoded.
    package var original: Manifest.Content?
  }

  let name: String
  let source: Descriptor
  let destination: Descriptor
  let encoding: PartEncoding?
  /// Of a source that isn't a regular file, in milliseconds.
  let longestSilence: Int64

  package init(
    name: String, source: Descriptor, destination: Descriptor, encoding: PartEncoding?, longestSilence: Int64
  ) {
    self.name = name
    self.source = source
    self.destination = destination
    self.encoding = encoding
    self.longestSilence = longestSilence
  }

  /// How often a source that keeps silent is left to ask whether it is still wanted, in milliseconds.
  private static let lookInterval: Int64 = 250

  /// - Parameters:
  ///   - isWanted: Asked before each chunk, and while a source keeps silent; false ends the copy.
  ///   - admit: Called before each chunk with its size; throws when there is no room.
  package func run(
    while isWanted: () -> Bool = { true }, admit: (Int) throws(QueueError) -> Void
  ) throws(QueueError) -> Outcome {
    let before: FileStatus
    do { before = try source.status() } catch { throw .source(name: name, error) }
    let isFile = before.kind == .file
    let hasher = try archive { () throws(ArchiveError) in try SHA256Hasher() }
    var gzip: GzipWriter?
    if encoding == .gzip { gzip = try archive { () throws(ArchiveError) in try GzipWriter(into: destination) } }
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
    defer { chunk.deallocate() }
    var size: Int64 = 0
    while true {
      guard isWanted() else { throw .unwanted }
      let got = try read(into: chunk, at: isFile ? size : nil, while: isWanted)
      if got == 0 { break }
      try admit(got)
      size += Int64(got)
      // It grew: told below, and not copied without end.
      if isFile && size > before.size { throw .sourceChanged(name: name) }
      let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<got])
      try archive { () throws(ArchiveError) in try hasher.update(bytes) }
      if let gzip {
        try archive { () throws(ArchiveError) in try gzip.write(bytes) }
      } else {
        do { try destination.write(bytes) } catch { throw QueueError(error) }
      }
    }
    if isFile {
      let after: FileStatus
      do { after = try source.status() } catch { throw .source(name: name, error) }
      guard size == before.size, after.size == before.size, after.modified == before.modified,
        after.changed == before.changed
      else { throw .sourceChanged(name: name) }
    }
    let digest = try archive { () throws(ArchiveError) in try hasher.finish() }
    let original = Manifest.Content(size: size, sha256: digest)
    guard let gzip else { return Outcome(stored: original, original: nil) }
    let packed = try archive { () throws(ArchiveError) in try gzip.finish() }
    return Outcome(stored: Manifest.Content(size: packed.size, sha256: packed.digest), original: original)
  }

  /// A file is read by position, so that its offset doesn't matter; anything else is waited for.
  private func read(
    into chunk: UnsafeMutableRawBufferPointer, at offset: Int64?, while isWanted: () -> Bool
  ) throws(QueueError) -> Int {
    let deadline = BootTime.now.advanced(milliseconds: longestSilence)
    while true {
      do throws(SystemError) {
        if let offset { return try source.read(into: chunk, at: offset) }
        if let got = try source.read(into: chunk) { return got }
        let rest = deadline.milliseconds(since: .now)
        guard rest > 0 else { break }
        if try source.waitReadable(milliseconds: min(rest, Self.lookInterval)) { continue }
      } catch {
        throw .source(name: name, error)
      }
      guard isWanted() else { throw .unwanted }
    }
    throw .sourceStalled(name: name, milliseconds: longestSilence)
  }

  private func archive<T>(_ body: () throws(ArchiveError) -> T) throws(QueueError) -> T {
    do { return try body() } catch { throw QueueError(error) }
  }
}
