// SPDX-License-Identifier: Apache-2.0
import CArchive
import Synchronization

/// libarchive, which is loaded at its first use: most runs of the program read and write no ZIP.
enum ArchiveLibrary {
  private static let loaded = Mutex<relay_archive_calls?>(nil)

  /// Its functions. One that isn't there is looked for again at the next call, so that installing it is enough.
  static var calls: relay_archive_calls {
    get throws(ArchiveError) {
      let found = loaded.withLock { loaded in
        if loaded == nil { loaded = relay_archive_load()?.pointee }
        return loaded
      }
      guard let found else {
        throw .library(RELAY_ARCHIVE_LIBRARY, "it can't be loaded; install libarchive (Debian: libarchive13)")
      }
      return found
    }
  }

  /// What it says of its last failure.
  static func problem(_ calls: relay_archive_calls, _ archive: OpaquePointer) -> ArchiveError {
    let text = calls.archive_error_string(archive).map { String(cString: $0) }
    return .library("libarchive", text ?? "it failed without a reason")
  }
}
