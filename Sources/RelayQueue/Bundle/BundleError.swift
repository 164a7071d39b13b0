// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// Why an artifact has no bundle; nothing of it is left, and its parts are as they were.
package enum BundleError: Error, Equatable, Sendable {
  /// A part isn't what was accepted, or can't be read now.
  case artifact(ArtifactDamage)
  /// What is free on the disk is kept for marks and the like.
  case noRoom(path: String)
  case system(SystemError)
  /// What was written isn't what was to be written.
  case failed(String)
  /// Nobody wants it any more.
  case stopped

  /// Whether the artifact belongs in `corrupt/`; everything else passes, and the bundle is made again.
  package var isDamage: Bool { if case .artifact(let damage) = self { damage.isDamage } else { false } }

  package var message: String {
    switch self {
    case .artifact(let damage): damage.message
    case .noRoom(let path): "the disk of \(path) has no room for the bundle of its parts; free some space there"
    case .system(let error): error.message
    case .failed(let text): "the bundle of its parts can't be made: \(text)"
    case .stopped: "its bundle isn't made yet"
    }
  }

  init(_ error: ArchiveError) {
    switch error {
    case .system(let error): self = error.isOutOfSpace ? .noRoom(path: error.subject) : .system(error)
    case .stopped: self = .stopped
    case .hashUnavailable, .library, .content: self = .failed(error.message)
    }
  }

  init(_ error: SystemError) { self = error.isOutOfSpace ? .noRoom(path: error.subject) : .system(error) }
}
