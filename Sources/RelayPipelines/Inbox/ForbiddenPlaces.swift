// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelaySystem

/// Where no file may be taken from, asked of the folder that was opened: the configuration was checked by its text, and a link or
/// a mount may have come into the way since.
package struct ForbiddenPlaces: Sendable {
  /// What the program lives on; in it and around it nothing is taken.
  private let own: [(what: String, path: String)]
  /// Where this pipeline's target writes.
  private let destinations: [String]

  package init(own: ProtectedPaths, destinations: [String]) {
    self.own = own.paths
    self.destinations = destinations
  }

  package static let none = ForbiddenPlaces(own: .none, destinations: [])

  /// Why nothing may be taken from the folder; nil when it may. What can't be looked at forbids nothing.
  func reason(against folder: Directory) throws(SystemError) -> String? {
    let place = try Place(folder)
    let above = try Self.places(from: folder)
    for (what, path) in own {
      guard let other = (try? Directory(path)) ?? (try? Directory(PathRules.parent(of: path))) else { continue }
      let isFolder = other.path == path
      if isFolder, above.contains(try Place(other)) { return "it lies in \(what)" }
      if try Self.places(from: other).contains(place) { return "\(what) lies in it" }
    }
    for path in destinations {
      guard let other = try? Directory(path), try Place(other) == place else { continue }
      return "what this pipeline delivers comes back into it"
    }
    return nil
  }

  private struct Place: Hashable {
    var device: UInt64
    var inode: UInt64

    init(_ folder: Directory) throws(SystemError) {
      let status = try folder.descriptor.status()
      (device, inode) = (status.device, status.inode)
    }
  }

  /// The folder and all above it, as the file system has them.
  private static func places(from folder: Directory) throws(SystemError) -> Set<Place> {
    var found: Set<Place> = []
    var folder = folder
    while found.insert(try Place(folder)).inserted { folder = try folder.parent() }
    return found
  }
}
