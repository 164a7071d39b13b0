// SPDX-License-Identifier: Apache-2.0
import RelayConfig

/// A target that can be used: what it says of itself and the private copy that workers load.
package struct UsableTarget: Equatable, Sendable {
  package var manifest: TargetManifest
  /// The file in a targets folder that it came from.
  package var file: String
  /// What is loaded, named by its hash: overwriting the original can't touch it.
  package var copy: String
  package var sha256: String
  /// Whether it came with the program.
  package var isShipped: Bool

  package init(manifest: TargetManifest, file: String, copy: String, sha256: String, isShipped: Bool) {
    self.manifest = manifest
    self.file = file
    self.copy = copy
    self.sha256 = sha256
    self.isShipped = isShipped
  }
}

/// A shared object in a targets folder, usable or not.
package struct FoundTarget: Equatable, Sendable {
  package enum State: Equatable, Sendable {
    case ready(UsableTarget)
    case broken(reason: String)
    /// It was changed less than a second ago; looked at again soon.
    case settling
  }

  package var file: String
  package var state: State

  package init(file: String, state: State) {
    self.file = file
    self.state = state
  }
}

/// All targets that were found, in the order of their folders; the first with an id has it.
package struct TargetCatalogue: Equatable, Sendable {
  package private(set) var found: [FoundTarget] = []

  /// - Parameter former: who has an id keeps it as long as it is usable, whatever comes before it in the alphabet.
  package init(_ all: [FoundTarget] = [], former: TargetCatalogue? = nil) {
    var owners: [String: String] = [:]
    for target in all {
      guard case .ready(let usable) = target.state, former?[usable.manifest.id]?.file == usable.file else { continue }
      owners[usable.manifest.id] = usable.file
    }
    found = all.map { target in
      guard case .ready(let usable) = target.state else { return target }
      let id = usable.manifest.id
      if let owner = owners[id], owner != target.file {
        return FoundTarget(file: target.file, state: .broken(reason: "Its id \"\(id)\" is already taken by \(owner)."))
      }
      owners[id] = target.file
      return target
    }
  }

  package var usable: [UsableTarget] {
    found.compactMap { if case .ready(let usable) = $0.state { usable } else { nil } }
  }

  package subscript(id: String) -> UsableTarget? { usable.first { $0.manifest.id == id } }

  package var manifests: [TargetManifest] { usable.map(\.manifest) }

  /// Why a pipeline can't use the target it names, for people; nil when it can.
  package func problem(with id: String) -> String? {
    if self[id] != nil { return nil }
    let broken = found.compactMap { target -> String? in
      if case .broken(let reason) = target.state { "\(target.file): \(reason)" } else { nil }
    }
    let known = usable.map(\.manifest.id).sorted().joined(separator: ", ")
    let reasons = broken.isEmpty ? "" : " Broken: \(broken.joined(separator: " "))"
    return "No target has the id \"\(id)\" (found: \(known.isEmpty ? "none" : known)). "
      + "Put its .so into a targets folder; it is taken up by itself.\(reasons)"
  }
}
