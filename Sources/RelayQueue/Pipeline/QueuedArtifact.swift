// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayArchive
import RelaySystem

/// An artifact whose manifest was read and whose parts are there. It holds nothing open: many wait for their turn like this.
package struct QueuedArtifact: Sendable {
  package let sequence: UInt64
  package internal(set) var manifest: Manifest
  let pipeline: PipelineFolder
  /// The pipeline's subfolder in which it lies, and its name there.
  let place: String
  let name: String

  package var folder: Directory {
    get throws(SystemError) { try pipeline.subfolder(place).folder(name) }
  }
}

/// Why an artifact can't be delivered as it lies there.
package enum ArtifactDamage: Error, Equatable, Sendable {
  /// There is no such entry.
  case missing
  /// It can't be read now (permissions, I/O, no descriptors): no damage, try again later.
  case unreadable(SystemError)
  case notAFolder
  case manifest(ManifestProblem)
  case partMissing(file: String)
  case partNotAFile(file: String)
  case partSize(file: String, expected: Int64, found: Int64)
  case partContent(file: String)
  /// The bundle is gone or damaged, and from the parts come other bytes than those that may have been sent.
  case bundleContent(file: String)

  /// Whether it belongs in `corrupt/`: what can't be read now may be whole, and a newer manifest waits for its program.
  package var isDamage: Bool {
    switch self {
    case .missing, .unreadable, .manifest(.newerVersion), .manifest(.hashUnavailable): false
    default: true
    }
  }

  package var message: String {
    switch self {
    case .missing: "it is gone from the queue"
    case .unreadable(let error): error.message
    case .notAFolder: "it is not a folder"
    case .manifest(let problem): problem.message
    case .partMissing(let file): "\(file) is missing"
    case .partNotAFile(let file): "\(file) is not a regular file"
    case .partSize(let file, let expected, let found): "\(file) has \(found) bytes instead of \(expected)"
    case .partContent(let file): "\(file) does not hold the bytes that were taken (its SHA-256 differs)"
    case .bundleContent(let file):
      "\(file) is damaged or gone, and made anew from the parts it has other bytes than those that may have been sent"
    }
  }
}

extension ArtifactDamage {
  /// Why its folder couldn't be opened.
  fileprivate init(ofFolder error: SystemError) {
    switch error.code {
    case ENOENT: self = .missing
    case ENOTDIR, ELOOP: self = .notAFolder
    default: self = .unreadable(error)
    }
  }
}

extension PipelineFolder {
  /// Reads an artifact's manifest and looks whether each part is there with its size; content is not read.
  package func openArtifact(_ sequence: UInt64) throws(ArtifactDamage) -> QueuedArtifact {
    try openArtifact(sequence, named: SequenceName.name(sequence), in: "queue")
  }

  func openArtifact(
    _ sequence: UInt64, named name: String, in place: String
  ) throws(ArtifactDamage) -> QueuedArtifact {
    let parent: Directory
    do throws(SystemError) { parent = try subfolder(place) } catch { throw .unreadable(error) }
    let folder: Directory
    do throws(SystemError) { folder = try parent.folder(name) } catch { throw ArtifactDamage(ofFolder: error) }
    let manifest = try Self.readManifest(in: folder)
    for part in manifest.parts {
      let status: FileStatus?
      do { status = try folder.status(of: part.file) } catch { throw .unreadable(error) }
      try Self.check(part.file, status, part.stored.size)
    }
    return QueuedArtifact(sequence: sequence, manifest: manifest, pipeline: self, place: place, name: name)
  }

  static func readManifest(in folder: Directory) throws(ArtifactDamage) -> Manifest {
    let bytes: [UInt8]?
    do {
      bytes = try folder.content(of: Manifest.fileName, limit: Manifest.largest)
    } catch {
      switch error.code {
      case EFBIG: throw .manifest(.tooLarge(limit: Manifest.largest))
      case ELOOP, EINVAL, ENXIO: throw .partNotAFile(file: Manifest.fileName)
      default: throw .unreadable(error)
      }
    }
    guard let bytes else { throw .manifest(.missing) }
    do { return try Manifest.read(bytes) } catch { throw .manifest(error) }
  }

  private static func check(_ file: String, _ status: FileStatus?, _ size: Int64) throws(ArtifactDamage) {
    guard let status else { throw .partMissing(file: file) }
    guard status.kind == .file else { throw .partNotAFile(file: file) }
    guard status.size == size else { throw .partSize(file: file, expected: size, found: status.size) }
  }
}

extension QueuedArtifact {
  /// Opens a part (index from 1) for reading, at its beginning: a regular file of the right size, never a link.
  package func openPart(_ index: Int) throws(ArtifactDamage) -> Descriptor {
    guard manifest.parts.indices.contains(index - 1) else { throw .partMissing(file: "part \(index)") }
    return try open(manifest.parts[index - 1].file, manifest.parts[index - 1].stored)
  }

  package func openBundle() throws(ArtifactDamage) -> Descriptor {
    guard let bundle = manifest.bundle else { throw .partMissing(file: "bundle") }
    return try open(bundle.file, bundle.stored)
  }

  private func open(_ file: String, _ content: Manifest.Content) throws(ArtifactDamage) -> Descriptor {
    let folder: Directory
    do throws(SystemError) { folder = try self.folder } catch { throw ArtifactDamage(ofFolder: error) }
    do throws(SystemError) {
      let descriptor = try folder.openFile(file)
      let size = try descriptor.status().size
      if size == content.size { return descriptor }
      throw SystemError(call: .status, code: ERANGE, subject: String(size))
    } catch {
      switch error.code {
      case ENOENT: throw .partMissing(file: file)
      case ELOOP, EINVAL, ENXIO: throw .partNotAFile(file: file)
      case ERANGE: throw .partSize(file: file, expected: content.size, found: Int64(error.subject) ?? 0)
      default: throw .unreadable(error)
      }
    }
  }

  /// Reads a part through and compares its hash; the descriptor's offset stays where it is.
  package func verifyPart(_ index: Int, _ descriptor: Descriptor) throws(ArtifactDamage) {
    guard manifest.parts.indices.contains(index - 1) else { throw .partMissing(file: "part \(index)") }
    let part = manifest.parts[index - 1]
    let found: (digest: Digest, size: Int64)
    do {
      found = try SHA256Hasher.digest(of: descriptor)
    } catch {
      switch error {
      case .system(let error): throw .unreadable(error)
      default: throw .manifest(.hashUnavailable)
      }
    }
    guard found.size == part.stored.size else {
      throw .partSize(file: part.file, expected: part.stored.size, found: found.size)
    }
    guard found.digest == part.stored.sha256 else { throw .partContent(file: part.file) }
  }
}
