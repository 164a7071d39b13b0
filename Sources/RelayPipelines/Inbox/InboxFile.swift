// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// A file in the inbox as it was seen; the order is that in which files are taken: oldest change first, then by name.
struct InboxFile: Comparable, Sendable {
  /// In any bytes.
  var name: [UInt8]
  var status: FileStatus

  static func < (left: InboxFile, right: InboxFile) -> Bool {
    left.status.modified != right.status.modified
      ? left.status.modified < right.status.modified : left.name.lexicographicallyPrecedes(right.name)
  }

  /// Differs as soon as anything about the file does.
  var key: Int {
    var hasher = Hasher()
    hasher.combine(name)
    hasher.combine(status.device)
    hasher.combine(status.inode)
    hasher.combine(status.size)
    hasher.combine(status.modified)
    hasher.combine(status.changed)
    return hasher.finalize()
  }

  /// The name for people.
  var displayName: String { PartName.display(name) }
}

/// Which names the inbox passes over.
enum InboxName {
  /// What a file is called between being copied and being removed: nobody else opens it by this name.
  static let takenPrefix = ".taken-"
  /// Of a file's name on Linux, in bytes.
  static let longest = 255

  static func taken(_ id: Identifier) -> [UInt8] { Array((takenPrefix + id.description).utf8) }

  static func isTaken(_ name: [UInt8]) -> Bool { name.starts(with: takenPrefix.utf8) }

  /// Hidden, or by its ending not yet complete.
  static func isLeftAlone(_ name: [UInt8]) -> Bool {
    name.first == UInt8(ascii: ".") || name.ends(in: ".part") || name.ends(in: ".tmp")
  }

  /// A name for a file whose own was given to another one meanwhile: the identifier, then as much of its end as fits.
  static func alternative(_ id: Identifier, for name: [UInt8]) -> [UInt8] {
    let prefix = Array((id.description + "-").utf8)
    return prefix + name.suffix(longest - prefix.count)
  }
}

extension [UInt8] {
  fileprivate func ends(in ending: String) -> Bool { suffix(ending.utf8.count).elementsEqual(ending.utf8) }
}
