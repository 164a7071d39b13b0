// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// How a worker is brought to an end: asked, then told, then ended, each with its time to react.
package struct KillLadder: Equatable, Sendable {
  package enum Step: Equatable, Sendable {
    /// `cancel_fd` becomes readable.
    case ask
    /// SIGTERM to its process group.
    case terminate
    /// SIGKILL to its process group.
    case kill
  }

  /// What each step waits for, in milliseconds.
  package static let patience: Int64 = 5_000

  private var next: Step? = .ask
  package private(set) var nextMoment: BootTime?

  package init(now: BootTime) { nextMoment = now }

  /// A ladder that begins further down, for a worker that can't be asked any more.
  package init(from step: Step, now: BootTime) {
    next = step
    nextMoment = now
  }

  /// The step that is due, if any.
  package mutating func step(at now: BootTime) -> Step? {
    guard let due = next, let moment = nextMoment, now >= moment else { return nil }
    switch due {
    case .ask: next = .terminate
    case .terminate: next = .kill
    case .kill: next = nil
    }
    nextMoment = next == nil ? nil : now.advanced(milliseconds: Self.patience)
    return due
  }
}
