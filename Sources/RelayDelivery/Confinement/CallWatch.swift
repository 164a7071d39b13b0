// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// What a target tried and may not.
package enum DeniedAttempt: Equatable, Sendable {
  /// A system call, by number.
  case call(Int32)
  case path(DeniedPath)
  /// More paths than are told of.
  case furtherPaths
}

/// What a worker may do, as far as it must be known to tell what it tries beyond it.
struct WorkerBounds: Sendable {
  var access: WorkerAccess
  /// The target's private copy.
  var copy: String
  /// Calls that the kernel carries out, by number.
  var watched: [Int32: WatchedCall]
  /// The level of Landlock in force.
  var landlock: Int
}

/// Answers what one confined worker tries, in a thread of its own: reading its memory and looking where its paths lead may take
/// time, and nobody but that worker is to wait for it.
struct CallWatch: Sendable {
  /// The most paths that are told of in a worker's life.
  static let mostPaths = 32
  /// The most paths that are remembered, so that they aren't looked at again.
  static let mostSeen = 512

  let listener: SystemCallListener
  let bounds: WorkerBounds
  /// Whether Landlock is in force.
  let confinesFiles: Bool
  /// Called in the thread, before the target knows.
  let tell: @Sendable (DeniedAttempt) -> Void

  private struct Seen: Hashable {
    var path: String
    var call: Int32
    var writes: Bool
    var makes: Bool
  }

  /// Until nobody is left who could make a call.
  func run() {
    var pace = DenialPace(now: .now)
    var seen: Set<Seen> = []
    var told: Set<DeniedPath> = []
    var made: PathJudge?
    while let call = listener.next() {
      guard let known = bounds.watched[call.number], !known.isForbidden(call, landlock: bounds.landlock) else {
        while !pace.mayAnswer(at: .now) { listener.rest(milliseconds: Int32(DenialPace.pause)) }
        pace.answered()
        tell(.call(call.number))
        listener.deny(call)
        continue
      }
      for index in known.paths where confinesFiles && told.count < Self.mostPaths {
        guard let path = listener.path(call, argument: index) else { continue }
        if seen.count >= Self.mostSeen { seen = [] }
        let new = Seen(path: path, call: call.number, writes: known.writes(call), makes: known.makes(call))
        guard seen.insert(new).inserted else { continue }
        let judge = made ?? PathJudge(bounds.access, copy: bounds.copy)
        made = judge
        guard let denied = judge.denial(of: path, known, call), told.insert(denied).inserted else { continue }
        tell(told.count < Self.mostPaths ? .path(denied) : .furtherPaths)
      }
      listener.pass(call)
    }
  }
}
