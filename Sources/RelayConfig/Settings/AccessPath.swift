// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON

/// A path that a person typed and a target is let into.
package struct AccessPath: Equatable, Sendable {
  package typealias Mode = JSONSchema.AccessMark

  /// Absolute, as typed; of a path with a template the folder before the first expression.
  package var path: String
  /// Absolute, with links resolved as far as the path existed when the configuration was read.
  package var resolved: String
  package var mode: Mode

  package init(path: String, resolved: String, mode: Mode) {
    self.path = path
    self.resolved = resolved
    self.mode = mode
  }

  /// What is opened for a path of this mode: a file is put in place by a rename, for which its folder must be open.
  package static func opened(_ path: String, _ mode: Mode) -> String {
    mode == .replace ? PathRules.parent(of: path) : path
  }

  /// What is opened, as typed.
  package var opened: String { Self.opened(path, mode) }

  /// Whether what is opened is there now. Blocking.
  package var isThere: Bool { access(opened, F_OK) == 0 }
}
