// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayQueue
import RelaySystem

/// A part that is open and, where it is small, already compared with what was accepted.
struct PreparedPart: Sendable {
  var file: Descriptor
  var length: Int64
  var sha256: Digest
  /// The checksum that the worker compares before it hands out the last bytes; nil: it asks when it gets there.
  var checksum: UInt64?
  /// Resolved values, when the worker is yet to be opened.
  var secrets: [SecretEntry] = []
  /// What a new worker is let into.
  var access: WorkerAccess?
  /// Whether a path of the worker that is there leads elsewhere by now.
  var isWorkerStale = false
  /// Whether `secrets` and `access` are there, so that a new worker can be opened.
  var isForNewWorker = false
  /// The pipeline's generation when it was prepared.
  var generation: UInt64 = 0
  /// Settings with templates that weren't rendered when the artifact was made, because the target wasn't known then.
  var rendered: [SettingEntry] = []
}

/// What came of opening a part.
enum PartPreparation: Sendable {
  case ready(PreparedPart)
  case damaged(String)
  case unreadable(String)
  case needsAttention(SecretProblem)
}

/// What was found by reading a whole part while it is being sent.
enum PartContent: Sendable, Equatable {
  case good(checksum: UInt64)
  case damaged
  case unreadable(String)
}

extension PreparedPart {
  /// Up to this size a part is hashed before it is handed to the worker, so that no question is needed later.
  static let smallPart: Int64 = 1 << 20

  /// Opens a part of an artifact. Blocking.
  static func open(_ artifact: QueuedArtifact, part index: Int) -> PartPreparation {
    let file: Descriptor
    let content: Manifest.Content
    do throws(ArtifactDamage) {
      if let bundle = artifact.manifest.bundle {
        file = try artifact.openBundle()
        content = bundle.stored
      } else {
        file = try artifact.openPart(index)
        content = artifact.manifest.parts[index - 1].stored
      }
    } catch {
      return error.isDamage ? .damaged(error.message) : .unreadable(error.message)
    }
    var prepared = PreparedPart(file: file, length: content.size, sha256: content.sha256)
    if content.size <= smallPart {
      switch check(file, content) {
      case .good(let checksum): prepared.checksum = checksum
      case .damaged: return .damaged("its bytes are not those that were accepted (SHA-256 differs)")
      case .unreadable(let reason): return .unreadable(reason)
      }
    }
    return .ready(prepared)
  }

  /// Opens the bundle of an artifact once it has been made again.
  static func openAgain(
    _ artifact: QueuedArtifact, make: () throws(BundleError) -> QueuedArtifact
  ) -> PartPreparation {
    do throws(BundleError) { return open(try make(), part: 1) } catch {
      return error.isDamage ? .damaged(error.message) : .unreadable(error.message)
    }
  }

  /// Reads the whole part, without moving the offset that the worker shares, and compares it with what was accepted.
  static func check(_ file: Descriptor, _ expected: Manifest.Content) -> PartContent {
    var checksum = PartChecksum()
    do {
      let hasher = try SHA256Hasher()
      var chunk = [UInt8](repeating: 0, count: Int(min(max(expected.size, 1), 256 * 1024)))
      var offset: Int64 = 0
      while offset < expected.size {
        let wanted = Int(min(Int64(chunk.count), expected.size - offset))
        let got = try chunk.withUnsafeMutableBytes { raw in
          try file.read(into: UnsafeMutableRawBufferPointer(rebasing: raw[..<wanted]), at: offset)
        }
        guard got == wanted else { return .damaged }
        try chunk.withUnsafeBytes { raw in
          let piece = UnsafeRawBufferPointer(rebasing: raw[..<got])
          checksum.update(piece)
          try hasher.update(piece)
        }
        offset += Int64(got)
      }
      return try hasher.finish() == expected.sha256 ? .good(checksum: checksum.value) : .damaged
    } catch let error as SystemError {
      return .unreadable(error.message)
    } catch {
      return .unreadable("it can't be hashed")
    }
  }
}
