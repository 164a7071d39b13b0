// SPDX-License-Identifier: Apache-2.0
import RelayConfig

/// Whether a target may run on a kernel that can't confine it fully.
package struct ConfinementPolicy: Equatable, Sendable {
  package var kernel: KernelConfinement
  /// What the configuration says; nil leaves it to where the target comes from.
  package var configured: ConfinementMode?
  /// Whether the program runs as root.
  package var isRoot: Bool

  package init(kernel: KernelConfinement, configured: ConfinementMode?, isRoot: Bool) {
    self.kernel = kernel
    self.configured = configured
    self.isRoot = isRoot
  }

  package func mode(isShipped: Bool) -> ConfinementMode {
    configured ?? (isShipped && !isRoot ? .bestEffort : .required)
  }

  /// Why a target may not run here, and what to do; nil when it may.
  package func refusal(isShipped: Bool) -> String? {
    guard mode(isShipped: isShipped) == .required, let problem = kernel.problem else { return nil }
    let reason =
      if configured == .required {
        "\"confinement\" is \"required\""
      } else if isRoot {
        "as root, \"confinement\" is \"required\" unless the configuration says otherwise"
      } else {
        "for targets that didn't come with the program \"confinement\" is \"required\" unless the configuration says otherwise"
      }
    return "The target may not run: \(problem), and \(reason). \(kernel.cure). Or, if you trust the target as much as "
      + "the daemon itself, set \"confinement\": \"best-effort\"."
  }

  /// What is to be said once of a kernel on which targets run less confined than they should; nil when nothing is.
  package var warning: String? {
    guard let problem = kernel.problem else { return nil }
    return "Confinement: \(problem). \(kernel.cure)."
  }
}
