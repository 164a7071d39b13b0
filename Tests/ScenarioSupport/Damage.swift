// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport

/// What a disk or a person can do to a file.
package enum Damage: Sendable, CustomStringConvertible {
  case flip(at: Int)
  case cut(to: Int)
  case grow
  case remove
  case folder, pipe, link
  case garbage

  package var description: String {
    switch self {
    case .flip(let place): "byte \(place) flipped"
    case .cut(let length): "cut to \(length) bytes"
    case .grow: "grown by a byte"
    case .remove: "removed"
    case .folder: "a folder in its place"
    case .pipe: "a pipe in its place"
    case .link: "a link in its place"
    case .garbage: "other bytes of the same length"
    }
  }

  package func apply(to path: String) throws {
    switch self {
    case .flip(let place):
      var bytes = try File.bytes(of: path)
      if bytes.indices.contains(place) { bytes[place] ^= 0x20 }
      try File.write(bytes, to: path)
    case .cut(let length):
      guard truncate(path, length) == 0 else { throw CallError("truncate") }
    case .grow: try File.write(try File.bytes(of: path) + [120], to: path)
    case .garbage: try File.write([UInt8](repeating: 0xA5, count: try File.bytes(of: path).count), to: path)
    case .remove: unlink(path)
    case .folder:
      unlink(path)
      guard mkdir(path, 0o700) == 0 else { throw CallError("mkdir") }
    case .pipe:
      unlink(path)
      guard mkfifo(path, 0o600) == 0 else { throw CallError("mkfifo") }
    case .link:
      // To the very same bytes: still not what was accepted.
      guard rename(path, path + ".moved") == 0, symlink(path + ".moved", path) == 0 else { throw CallError("symlink") }
    }
  }
}
