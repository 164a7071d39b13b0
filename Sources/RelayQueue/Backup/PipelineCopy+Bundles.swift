// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// The one thing that changes an artifact in the queue after it came: a bundle, which a new manifest names.
extension PipelineCopy {
  static let manifestName = Array(Manifest.fileName.utf8)

  /// The name of the first artifact in the queue, which alone can be bundled; nil for other places.
  static func head(of entries: [(key: Key, inode: UInt64)], in place: Place) -> Key? {
    guard place == .queue else { return nil }
    let first = entries.min { left, right in
      (SequenceName.parse(left.key.text) ?? .max) < (SequenceName.parse(right.key.text) ?? .max)
    }
    return first?.key
  }

  /// Whether it has another manifest than the one that was copied.
  func wasBundled(_ key: Key, _ known: Copied) -> Bool {
    guard let manifest = known.manifest, let folder = try? place(key.place)?.folder(key.text),
      let now = try? folder.status(of: Manifest.fileName)
    else { return false }
    return now.inode != manifest
  }
}
