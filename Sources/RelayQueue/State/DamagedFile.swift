// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// What was found when a state file was opened.
package enum FileFinding: Equatable, Sendable {
  case good
  /// It wasn't there.
  case missing
  /// It could not be decoded and was renamed to this path; that piece starts fresh.
  case setAside(String)
  /// It was read, but for parts that a crash had cut or damaged.
  case mended(String)
}

enum DamagedFile {
  /// Renames a file to `<name>.damaged-<time>` beside itself, so that nothing is lost by starting fresh; durable on
  /// return. Returns the new path.
  static func setAside(_ name: String, in folder: Directory, at time: WallTime = .now) throws(SystemError) -> String {
    let stamp = time.text().filter { $0 != "-" && $0 != ":" }
    for attempt in 1...100 {
      let aside = "\(name).damaged-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
      do {
        try folder.rename(name, to: folder, as: aside, exclusive: true)
        try folder.sync()
        return folder.path + "/" + aside
      } catch {
        guard error.code == EEXIST else { throw error }
      }
    }
    throw SystemError(call: .rename, code: EEXIST, subject: folder.path + "/" + name)
  }
}
