// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayQueue
import RelaySystem

/// What went wrong with a backup, with its place and its cure.
extension Refusal {
  package init(_ error: BackupError) {
    let sentence = Self.sentence(error.message)
    func refusal(_ code: DiagnosticCode, _ hint: String) -> Refusal {
      Refusal(.needsYou, code, sentence, hint: hint)
    }
    self =
      switch error {
      case .notEmpty: refusal(.backupBadFolder, "name a folder that is empty, or one that isn't there yet")
      case .finished:
        refusal(.backupBadFolder, "name another folder for each backup; the old one is deleted by you, when you like")
      case .busy: refusal(.backupBadFolder, "wait for its end, or name another folder")
      case .destination(let cause):
        refusal(
          cause.isOutOfSpace ? .backupFailed : .backupBadFolder,
          cause.isOutOfSpace
            ? "make room there or name a folder on another disk; what was written was removed again"
            : Self.cure(cause, "the daemon's user must be able to write to the folder"))
      case .source(let cause):
        refusal(
          .backupFailed,
          Self.cure(cause, "make it readable for the daemon's user")
            + "; a damaged artifact is set aside with `relay-host queue drop` and deleted with `relay-host refused delete`"
        )
      case .restless: refusal(.backupFailed, "try again when less is handed over, or stop the daemon for it")
      case .state(let cause): Refusal(cause)
      case .stopped: refusal(.backupFailed, "run it again")
      case .notABackup: refusal(.backupNone, "is it the right folder? a backup that was cut short is of no use")
      case .newerBackup, .newerFormat: refusal(.backupNewer, "use the newer program")
      case .damaged: refusal(.backupDamaged, "use another backup; nothing was put back")
      case .unreadable(let cause): refusal(.backupDamaged, Self.cure(cause, "make the backup readable for this user"))
      case .stateNotEmpty:
        refusal(.restoreNotEmpty, "move what is there out of the way first, or name another folder with --state")
      case .restoring(let cause):
        refusal(
          .restoreFailed,
          cause.isOutOfSpace
            ? "make room there, then run it again" : Self.cure(cause, "run this as the daemon's user, then again"))
      case .hashUnavailable: Refusal(.fault, .commandFault, sentence)
      }
  }

  /// Only a refusal for lack of rights is mended by rights.
  private static func cure(_ error: SystemError, _ rights: String) -> String {
    switch error.code {
    case EACCES, EPERM: rights
    case EROFS: "the file system is mounted read-only"
    case EIO: "the disk reports an error; look at the kernel's log"
    default: "mend that, then run it again"
    }
  }
}
