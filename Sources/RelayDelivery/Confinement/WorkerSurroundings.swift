// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelaySystem

/// What workers are let into besides what a pipeline names, and who they are; changes with the configuration.
package struct WorkerSurroundings: Sendable {
  package var policy: ConfinementPolicy
  package var identity: WorkerIdentity?
  /// What no target is let into.
  package var protected: ProtectedPaths
  /// The folder with the Swift runtime that the shipped targets need; nil where their own headers name it.
  package var runtimeFolder: String?
  /// The filters of system calls, made beforehand.
  package var filter = CallFilter()

  package init(
    policy: ConfinementPolicy, identity: WorkerIdentity?, protected: ProtectedPaths, runtimeFolder: String?
  ) {
    self.policy = policy
    self.identity = identity
    self.protected = protected
    self.runtimeFolder = runtimeFolder
  }

  /// What a worker for a target's private copy is told. Blocking, on the machine's own folders.
  package func confinement(copy: String, isShipped: Bool) -> WorkerConfinement {
    var paths = SystemPaths.libraries + SystemPaths.certificates + SystemPaths.resolver + SystemPaths.clocks
    paths += SystemPaths.devices + SystemPaths.resolverFolder() + SystemPaths.ofEnvironment()
    paths.removeAll { protected.conflictWithSecrets(PathRules.resolvingLinks($0)) != nil }
    if isShipped { paths += runtimeFolder.map { [$0] } ?? SharedObject.searchPath(of: copy) }
    return WorkerConfinement(
      required: policy.mode(isShipped: isShipped) == .required ? KernelConfinement.Piece.allCases : [],
      identity: identity, paths: paths.map { .init($0) } + [.init(SystemPaths.sink, .write)],
      filter: filter.programs)
  }

  /// What a new worker of a pipeline is let into. Blocking, on folders that may be anywhere.
  package func open(_ typed: [AccessPath], copy: String, isShipped: Bool) -> WorkerAccess {
    WorkerAccess(typed, protected, confinement(copy: copy, isShipped: isShipped))
  }

  /// What is known of a worker that was let into so much, to tell what its target tries beyond it.
  func bounds(of access: WorkerAccess, copy: String) -> WorkerBounds {
    WorkerBounds(access: access, copy: copy, watched: filter.watched, landlock: policy.kernel.landlock)
  }
}
