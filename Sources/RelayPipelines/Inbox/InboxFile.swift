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

  /// With the file's own name behind the identifier, where that fits: so that it can be given back even if the note is lost.
  static func taken(_ id: Identifier, for name: [UInt8]) -> [UInt8] {
    let prefix = Array((takenPrefix + id.description).utf8)
    return prefix.count + 1 + name.count <= longest ? prefix + [UInt8(ascii: "-")] + name : prefix
  }

  /// What `taken` has made of which name; nil when it hasn't made it.
  static func parse(taken name: [UInt8]) -> (id: Identifier, name: [UInt8]?)? {
    guard isTaken(name) else { return nil }
    let rest = name.dropFirst(takenPrefix.utf8.count)
    guard let id = Identifier(String(decoding: rest.prefix(36), as: UTF8.self)) else { return nil }
    let behind = rest.dropFirst(36)
    if behind.isEmpty { return (id, nil) }
    guard behind.first == UInt8(ascii: "-"), behind.count > 1 else { return nil }
    return (id, Array(behind.dropFirst()))
  }

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
