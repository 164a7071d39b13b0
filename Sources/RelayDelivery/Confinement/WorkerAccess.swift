// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelaySystem
import RelayWorkerProtocol

/// What one worker is let into: what it is told, and the paths that a person typed, opened.
package struct WorkerAccess: Sendable {
  struct Opened: Sendable {
    var path: Descriptor
    /// Where it lies, with all links resolved.
    var place: String
    var mode: WorkerConfinement.PathMode
  }

  /// Which file or folder a path led to.
  private struct Stamp: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
  }

  package let confinement: WorkerConfinement
  let opened: [Opened]
  /// What can't be opened and why, for the log.
  package private(set) var notes: [String] = []
  /// What kept a path from being opened and may pass by itself: without that path no target is to start, since it would take it
  /// for one that it may not use.
  package private(set) var passing: SystemError?
  /// Where every path led that may lead elsewhere later; nil where it led nowhere.
  private let stamps: [(path: String, stamp: Stamp?)]

  /// Opens what was typed. Blocking.
  init(_ typed: [AccessPath], _ protected: ProtectedPaths, _ confinement: WorkerConfinement) {
    self.confinement = confinement
    var opened: [Opened] = []
    var notes: [String] = []
    for access in typed {
      do {
        let path = try Descriptor.naming(access.opened)
        // Asked of what was opened, so that no link can be turned in between.
        let place = try path.place()
        if let conflict = protected.conflict(with: place) {
          notes.append("\(access.opened) leads into \(conflict) and isn't opened for the target.")
        } else {
          opened.append(Opened(path: path, place: place, mode: access.mode == .read ? .read : .write))
        }
      } catch {
        guard error.isAboutName else {
          passing = error
          continue
        }
        notes.append("\(access.opened) can't be opened for the target: \(SystemError.text(of: error.code)).")
      }
    }
    self.opened = opened
    self.notes = notes
    stamps = (typed.map(\.opened) + SystemPaths.replaced).map { ($0, Self.stamp($0)) }
  }

  private static func stamp(_ path: String) -> Stamp? {
    var about = stat()
    guard stat(path, &about) == 0 else { return nil }
    return Stamp(device: UInt64(about.st_dev), inode: UInt64(about.st_ino))
  }

  /// Whether every path still leads where it led: else the worker is let into what nobody means any more. Blocking.
  package var isCurrent: Bool { stamps.allSatisfy { Self.stamp($0.path) == $0.stamp } }

  /// What was typed, with all links resolved.
  var places: [WorkerConfinement.Path] { opened.map { .init($0.place, $0.mode) } }

  /// What is sent ahead of the order to load, in frames of as many paths as one takes.
  var frames: [(message: HostMessage, descriptors: [Descriptor])] {
    let most = Int(RELAY_ACCESS_MAXIMUM)
    return stride(from: 0, to: opened.count, by: most).map { start in
      let some = opened[start..<min(start + most, opened.count)]
      return (.access(some.map(\.mode)), some.map(\.path))
    }
  }
}
