// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import RelayWorkerProtocol

/// What of a worker's confinement a kernel has.
package struct KernelConfinement: Equatable, Sendable {
  package enum Piece: String, CaseIterable, Sendable {
    /// Landlock: no files but those that a target needs.
    case files
    /// seccomp: no system calls but those that a target needs.
    case calls

    var bit: UInt32 {
      switch self {
      case .files: RELAY_CONFINE_FILES
      case .calls: RELAY_CONFINE_CALLS
      }
    }
  }

  /// The level of Landlock, 0 for none.
  package var landlock: Int
  package var hasFilter: Bool

  package init(landlock: Int, hasFilter: Bool) {
    self.landlock = max(0, landlock)
    self.hasFilter = hasFilter
  }

  /// This machine's, or what a container lets through of it.
  package static let ofThisMachine = KernelConfinement(
    landlock: Int(relay_landlock_level()), hasFilter: relay_has_seccomp_filter() != 0)

  package var lacking: [Piece] {
    var lacking: [Piece] = []
    if landlock < 1 { lacking.append(.files) }
    if !hasFilter { lacking.append(.calls) }
    return lacking
  }

  /// What is lacking and what that means, for people; nil where nothing is.
  package var problem: String? {
    let words = lacking.map { piece in
      switch piece {
      case .files: "Landlock is missing, so a target can open what the daemon's user can"
      case .calls: "seccomp filters are missing, so a target can make any system call"
      }
    }
    return words.isEmpty ? nil : "this kernel can't confine targets fully: \(words.joined(separator: "; "))"
  }

  /// What a person can do about it.
  package var cure: String {
    let words = lacking.map { piece in
      switch piece {
      case .files:
        "Landlock is in Linux from 5.13 on, where \"landlock\" is among the security modules (lsm=… at boot) and no container denies it"
      case .calls: "seccomp is in every kernel built with CONFIG_SECCOMP_FILTER, where no container denies it"
      }
    }
    return words.joined(separator: "; ")
  }
}
