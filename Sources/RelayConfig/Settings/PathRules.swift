// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How paths in a configuration are understood.
package enum PathRules {
  /// An absolute path without `.` and double slashes; relative ones start at `folder`.
  package static func absolute(_ path: String, in folder: String) -> String {
    normalized(path.hasPrefix("/") ? path : folder + "/" + path)
  }

  /// The folder that a file stands in.
  package static func parent(of path: String) -> String {
    let parts = path.split(separator: "/").dropLast()
    return "/" + parts.joined(separator: "/")
  }

  /// Drops `.` and empty parts. `..` stays: behind a link it leads elsewhere than the text suggests.
  private static func normalized(_ path: String) -> String {
    "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  /// The path with every link resolved as far as it exists; what doesn't exist yet is appended as it is.
  package static func resolvingLinks(_ path: String) -> String {
    var parts = normalized(path).split(separator: "/").map(String.init)
    var missing: [String] = []
    while true {
      if let real = realpath("/" + parts.joined(separator: "/"), nil) {
        defer { free(real) }
        let existing = String(cString: real)
        return appending(missing.reversed(), to: existing)
      }
      guard let last = parts.popLast() else { return appending(missing.reversed(), to: "/") }
      missing.append(last)
    }
  }

  private static func appending(_ parts: [String], to path: String) -> String {
    var all = path.split(separator: "/").map(String.init)
    // Where nothing exists there is no link, so going up is going up in the text.
    for part in parts { if part == ".." { _ = all.popLast() } else { all.append(part) } }
    return "/" + all.joined(separator: "/")
  }

  /// Whether a resolved path is another one or lies below it.
  package static func isInside(_ path: String, _ folder: String) -> Bool {
    path == folder || folder == "/" || path.hasPrefix(folder + "/")
  }
}

/// What no target may be let into and no inbox may take away, whatever the configuration says.
package struct ProtectedPaths: Sendable {
  /// With links resolved.
  package let paths: [(what: String, path: String)]
  private static let targets = "a folder of targets"

  package static let none = ProtectedPaths(paths: [])

  private init(paths: [(what: String, path: String)]) { self.paths = paths }

  package init(state: String, configurationFile: String, targets: [String], credentialsDirectory: String?) {
    var paths = [("the state folder", state), ("the configuration file", configurationFile)]
    paths += targets.map { (Self.targets, $0) }
    if let credentialsDirectory { paths.append(("the folder of credentials", credentialsDirectory)) }
    self.paths = paths.map { (what: $0.0, path: PathRules.resolvingLinks($0.1)) }
  }

  /// What a path would open; nil if nothing. A folder around a protected one opens it too.
  package func conflict(with resolved: String) -> String? {
    paths.first { PathRules.isInside(resolved, $0.path) || PathRules.isInside($0.path, resolved) }?.what
  }

  /// As `conflict`, for what may well hold programs, such as targets: only what is kept from everybody counts.
  package func conflictWithSecrets(_ resolved: String) -> String? {
    paths.first {
      $0.what != Self.targets && (PathRules.isInside(resolved, $0.path) || PathRules.isInside($0.path, resolved))
    }?.what
  }
}
