// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

extension QueuedArtifact {
  /// While it is written. No part of a backup, and gone at the next try.
  static let unfinishedBundle = ".bundle.new"

  /// Puts all parts into one ZIP in the artifact's folder, proves it, and writes it down in the manifest; on the disk when
  /// this returns. Blocking, as long as compressing takes; memory is a few chunks.
  ///
  /// A bundle that the manifest names already, and which is gone or damaged, is made again: it counts only if it has the
  /// same bytes as before, because these may have been sent.
  ///
  /// - Parameter goesOn: asked all the time; false ends the work.
  package func makeBundle(while goesOn: @Sendable () -> Bool = { true }) throws(BundleError) -> QueuedArtifact {
    guard goesOn() else { throw .stopped }
    let folder: Directory
    do throws(SystemError) { folder = try self.folder } catch { throw BundleError(error) }
    do throws(BundleError) {
      try clear(folder, keeping: nil)
      let (file, content) = try write(in: folder, goesOn)
      return try keep(file, content, in: folder)
    } catch {
      // What can't be removed now is removed by the next try.
      try? folder.remove(Self.unfinishedBundle)
      throw error
    }
  }

  /// Whether a bundle must be made before this goes to a target of this unit: there is none yet, or it isn't there with its
  /// size.
  package func needsBundle(for unit: DeliveryUnit) throws(BundleError) -> Bool {
    guard manifest.isBundled(for: unit) else { return false }
    guard manifest.bundle != nil else { return true }
    do throws(ArtifactDamage) { _ = try openBundle() } catch {
      if error.isDamage { return true }
      throw .artifact(error)
    }
    return false
  }

  /// Removes a bundle whose bytes are wrong, so that it is made again.
  package func discardBundle() {
    guard let bundle = manifest.bundle else { return }
    try? folder.remove(bundle.file)
  }

  /// Removes what a try that was cut short has left; what can't be removed now, the next try removes.
  func clearUnfinishedBundle() {
    guard let folder = try? folder else { return }
    try? clear(folder, keeping: manifest.bundle?.file)
  }

  private func clear(_ folder: Directory, keeping bundle: String?) throws(BundleError) {
    do throws(SystemError) {
      for name in try folder.names() {
        let isLeft = PartName.index(of: name) == 0 && name != bundle
        // Whatever stands under the name: it is none of the parts.
        if isLeft || name == Self.unfinishedBundle { try folder.removeTree(name) }
      }
    } catch {
      throw BundleError(error)
    }
  }

  private func write(
    in folder: Directory, _ goesOn: @Sendable () -> Bool
  ) throws(BundleError) -> (Descriptor, Manifest.Content) {
    let file: Descriptor
    let check: BundleCheck
    do throws(SystemError) {
      file = try folder.createFile(Self.unfinishedBundle)
      check = try BundleCheck(of: file, parts: manifest.parts.map { $0.original ?? $0.stored })
    } catch {
      throw BundleError(error)
    }
    let outcome: ZipWriter.Outcome
    do throws(BundleError) {
      outcome = try pack(into: file, folder, check, goesOn)
    } catch {
      // It may wait for more.
      try? check.finish()
      throw error
    }
    do throws(ArchiveError) { try check.finish() } catch { throw try blame(error) }
    do throws(SystemError) { try file.sync() } catch { throw BundleError(error) }
    return (file, Manifest.Content(size: outcome.size, sha256: outcome.digest))
  }

  private func pack(
    into file: Descriptor, _ folder: Directory, _ check: BundleCheck, _ goesOn: @Sendable () -> Bool
  ) throws(BundleError) -> ZipWriter.Outcome {
    let names = BundleNames.names(of: manifest.parts.map(\.name))
    var room = RoomCheck(of: folder)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: PartCopy.chunkSize, alignment: 16)
    defer { chunk.deallocate() }
    do throws(ArchiveError) {
      let writer = try ZipWriter(into: file, modified: manifest.createdAt) { check.grew(to: $0) }
      for part in manifest.parts {
        let source = try PartSource(part, try openForBundle(part.index))
        try writer.begin(names[part.index - 1], size: (part.original ?? part.stored).size)
        while true {
          guard goesOn() else { throw .stopped }
          let got = try source.read(into: chunk)
          if got == 0 { break }
          try room.take(got)
          try writer.write(UnsafeRawBufferPointer(rebasing: chunk[..<got]))
        }
        try writer.end()
      }
      return try writer.finish()
    } catch {
      throw try blame(error)
    }
  }

  /// A part that can't be opened is told by `blame`.
  private func openForBundle(_ index: Int) throws(ArchiveError) -> Descriptor {
    do throws(ArtifactDamage) { return try openPart(index) } catch {
      if case .unreadable(let cause) = error { throw .system(cause) }
      throw .content(error.message)
    }
  }

  /// Why the bundle came out wrong: mostly because a part isn't what it was.
  private func blame(_ error: ArchiveError) throws(BundleError) -> BundleError {
    switch error {
    case .content, .library: break
    default: return BundleError(error)
    }
    for part in manifest.parts {
      do throws(ArtifactDamage) { try verifyPart(part.index, try openPart(part.index)) } catch {
        return .artifact(error)
      }
    }
    return BundleError(error)
  }

  /// Gives the bundle its name and has the manifest say so: from then on it is the one that is sent.
  private func keep(
    _ file: Descriptor, _ content: Manifest.Content, in folder: Directory
  ) throws(BundleError) -> QueuedArtifact {
    var artifact = self
    let name = manifest.bundleName
    let bundle = Manifest.Bundle(
      file: PartName.onDisk(index: 0, display: name), name: name, mediaType: "application/zip", stored: content)
    if let former = manifest.bundle {
      guard former.stored == content else { throw .artifact(.bundleContent(file: former.file)) }
    }
    let kept = manifest.bundle ?? bundle
    artifact.manifest.bundle = kept
    do {
      try folder.rename(Self.unfinishedBundle, to: folder, as: kept.file)
      // The manifest mustn't name what a power cut would take away.
      try folder.sync()
      if manifest.bundle == nil { try folder.replace(Manifest.fileName, with: try artifact.manifest.bytes()) }
    } catch let error as SystemError {
      throw BundleError(error)
    } catch let error as ArchiveError {
      throw BundleError(error)
    } catch {
      throw .failed("\(error)")
    }
    return artifact
  }
}

/// A part's bytes as they were handed in.
private struct PartSource {
  private let file: Descriptor
  private let gzip: GzipReader?

  init(_ part: Manifest.Part, _ file: Descriptor) throws(ArchiveError) {
    self.file = file
    gzip = part.encoding == .gzip ? try GzipReader(file) : nil
  }

  /// 0 is the end.
  func read(into chunk: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    if let gzip { return try gzip.read(into: chunk) }
    do throws(SystemError) { return try file.read(into: chunk) ?? 0 } catch { throw .system(error) }
  }
}

/// Sees to it that what is kept free for marks and state files stays free.
private struct RoomCheck {
  private static let interval: Int64 = 1 << 20
  private let folder: Directory
  private var sinceLast: Int64

  init(of folder: Directory) {
    self.folder = folder
    // The first bytes ask.
    sinceLast = Self.interval
  }

  mutating func take(_ count: Int) throws(ArchiveError) {
    sinceLast += Int64(count)
    guard sinceLast >= Self.interval else { return }
    sinceLast = 0
    do throws(SystemError) {
      let left = try folder.spaceLeft()
      guard DiskRoom(bytes: left.bytes, inodes: left.inodes).holds(0, QueueLimits()) else {
        throw SystemError(call: .write, code: ENOSPC, subject: folder.path)
      }
    } catch {
      throw .system(error)
    }
  }
}
