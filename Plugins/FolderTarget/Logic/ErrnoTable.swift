// SPDX-License-Identifier: Apache-2.0
import Glibc
import TargetKit

/// What each errno means for what is delivered: docs/targets/folder.md prints the same table.
enum ErrnoTable {
  static func verdict(on failure: CallFailure, subject: String, mayBeThere: Bool = false) -> Verdict {
    let said = "\(Words.doing(failure.call)) \(subject) failed: \(Words.errno(failure.code))"
    switch failure.code {
    case ENOSPC, EDQUOT: return .retry(.receiverFull, status: failure.code, said)
    case EACCES, EPERM, EROFS:
      return .needsAttention(.credentials, status: failure.code, "\(said); let the worker's user write there")
    case ENOENT, ENOTDIR:
      return .needsAttention(
        .notFound, status: failure.code, "\(said); is the disk mounted? The folder is never created")
    case ELOOP, EXDEV, EBUSY, EISDIR, ENOTEMPTY, EEXIST:
      return .needsAttention(.settings, status: failure.code, "\(said); something else is at this name")
    case ENAMETOOLONG, EILSEQ: return .refused(.settings, status: failure.code, "\(said); choose another \"file\"")
    case EFBIG: return .refused(.tooLarge, status: failure.code, said)
    case EINVAL where [.create, .open, .rename, .renameNew, .link].contains(failure.call):
      return .refused(.settings, status: failure.code, "\(said); choose another \"file\"")
    case ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENOTCONN, ESTALE:
      return .retry(.network, status: failure.code, said, maybeDelivered: mayBeThere)
    default: return .retry(.receiver, status: failure.code, said, maybeDelivered: mayBeThere)
    }
  }
}

/// What people read.
enum Words {
  static func doing(_ call: Kernel.Call) -> String {
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

  static func errno(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static let notAbsolute = "\"directory\" must be an absolute path, as /srv/scans"
  static let appendGzip = "\"append\" needs plain text: remove \"encode\" from \"delivery\""
  static let notAFile = "is no regular file; choose another \"file\""
  static let damaged = "the bytes to deliver are not as many as announced"
  static let manyNames = "more than 10000 files have this name; clear the folder or choose another \"file\""
  static let locked = "another program holds the lock of"
  static let moving = "the file was moved away again and again while it was opened:"

  static func notPlain(_ name: String) -> String {
    "\"\(name)\" is no plain file name: \"file\" must not be empty, \".\", \"..\" or hold a slash"
  }

  static func notMounted(_ directory: String) -> String {
    "no disk is mounted at \(directory) or above it; mount it, or turn off \"requireMount\""
  }
}
