// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayWorkerProtocol

/// What a worker is told of its confinement with the order to load its target.
package struct WorkerConfinement: Equatable, Sendable {
  package struct Path: Equatable, Sendable {
    package var path: String
    package var mode: PathMode

    package init(_ path: String, _ mode: PathMode = .read) {
      self.path = path
      self.mode = mode
    }
  }

  /// `RELAY_ACCESS_…`
  package enum PathMode: UInt32, Equatable, Sendable {
    case read = 1
    case write = 2
  }

  /// Without these it must not load.
  package var required: [KernelConfinement.Piece]
  package var identity: WorkerIdentity?
  /// What it opens by itself; paths that a person typed are handed over opened.
  package var paths: [Path]
  /// The filters of system calls, made; empty: it makes them itself, which takes it some milliseconds.
  package var filter: [UInt8]

  package init(
    required: [KernelConfinement.Piece] = [], identity: WorkerIdentity? = nil, paths: [Path] = [],
    filter: [UInt8] = []
  ) {
    self.filter = filter
    self.required = required
    self.identity = identity
    self.paths = paths
  }
}

extension WireWriter {
  mutating func confinement(_ confinement: WorkerConfinement) {
    u32(confinement.required.reduce(0) { $0 | $1.bit })
    u32(confinement.identity?.user ?? RELAY_USER_STAYS)
    u32(confinement.identity?.group ?? RELAY_USER_STAYS)
    count(confinement.identity?.groups.count ?? 0)
    for group in confinement.identity?.groups ?? [] { u32(group) }
    count(confinement.paths.count)
    for path in confinement.paths {
      text(path.path)
      u32(path.mode.rawValue)
    }
    data(confinement.filter)
  }
}
