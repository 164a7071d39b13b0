// SPDX-License-Identifier: Apache-2.0
import CArchive

/// libarchive, which is loaded at its first use: most runs of the program read and write no ZIP.
enum ArchiveLibrary {
  // Written once, before anybody sees it.
  nonisolated(unsafe) private static let loaded = relay_archive_load()

  /// Its functions.
  static var calls: relay_archive_calls {
    get throws(ArchiveError) {
      guard let loaded else { throw .library(RELAY_ARCHIVE_LIBRARY, "it can't be loaded; install libarchive") }
      return loaded.pointee
    }
  }

  /// What it says of its last failure.
  static func problem(_ calls: relay_archive_calls, _ archive: OpaquePointer) -> ArchiveError {
    let text = calls.archive_error_string(archive).map { String(cString: $0) }
    return .library("libarchive", text ?? "it failed without a reason")
  }
}
