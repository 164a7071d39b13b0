// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What people read of calls.
package enum CallWords {
  package static func doing(_ call: Kernel.Call) -> String {
    switch call {
    case .openFolder, .open: "opening"
    case .create: "creating"
    case .write: "writing to"
    case .read: "reading back"
    case .sync, .syncFolder: "syncing"
    case .close: "closing"
    case .rename, .renameNew, .link: "naming"
    case .unlink: "removing"
    case .look, .mount: "looking at"
    case .lock: "locking"
    case .truncate: "cutting back"
    case .permit: "setting the permissions of"
    }
  }

  package static func errno(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
