// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayJSON

/// What is told of the confinement of targets, by `status`, `check` and with `--json`.
package enum Confinement {
  package static func policy(_ configuration: Configuration) -> ConfinementPolicy { policy(configuration.confinement) }

  static func policy(_ configured: ConfinementMode?) -> ConfinementPolicy {
    ConfinementPolicy(kernel: .ofThisMachine, configured: configured, isRoot: geteuid() == 0)
  }

  /// What this machine has to confine targets with.
  package static var json: JSONNode {
    let kernel = KernelConfinement.ofThisMachine
    return .object([
      "landlock": .integer(kernel.landlock), "seccomp": .flag(kernel.hasFilter),
      "lacking": .array(kernel.lacking.map { .text($0.rawValue) }),
      "problem": kernel.problem.map { .text("\($0). \(kernel.cure).") } ?? JSONNode(.null),
    ])
  }

  /// A path that a target is let into; `opened` is what is opened for it.
  package static func json(_ access: AccessPath) -> JSONNode {
    .object([
      "path": .text(access.path), "mode": .text(access.mode.rawValue), "opened": .text(access.opened),
      "missing": .flag(!access.isThere),
    ])
  }

  /// The same for people.
  package static func words(_ access: AccessPath) -> String {
    let missing = access.isThere ? "" : " (not there yet)"
    switch access.mode {
    case .read: return "reads \(access.path)\(missing)"
    case .write: return "writes \(access.path)\(missing)"
    case .replace: return "replaces \(access.path), for which it may write in \(access.opened)\(missing)"
    }
  }

  /// One line on what every target may do besides; what is lacking is told apart, as a warning.
  package static var summary: String {
    let kernel = KernelConfinement.ofThisMachine
    guard kernel.lacking.isEmpty else { return "" }
    return "Besides, each may connect to anywhere and read libraries, certificates and what names and time zones need; "
      + "everything else is denied (Landlock \(kernel.landlock), seccomp).\n"
  }
}
