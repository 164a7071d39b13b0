// SPDX-License-Identifier: Apache-2.0
import Glibc
import TargetKit

/// What each errno means for what is delivered: docs/targets/folder.md prints the same table, for all targets that write files.
package enum ErrnoTable {
  package static func verdict(on failure: CallFailure, subject: String, mayBeThere: Bool = false) -> Verdict {
    let said = "\(CallWords.doing(failure.call)) \(subject) failed: \(CallWords.errno(failure.code))"
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

/// Turns a failed call into its verdict.
package func calling<Value>(_ subject: String, _ body: () throws(CallFailure) -> Value) throws(Verdict) -> Value {
  do throws(CallFailure) {
    return try body()
  } catch {
    throw ErrnoTable.verdict(on: error, subject: subject)
  }
}
