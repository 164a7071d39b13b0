// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem

extension BackupInbox {
  /// As the daemon's inboxes are kept.
  package static let ofDaemon = BackupInbox(
    waits: { !InboxName.isLeftAlone($0) },
    taking: { pipeline throws(SystemError) in
      let note: TakingNote?
      do throws(SystemError) { note = try TakingNote.read(in: pipeline.folder) } catch {
        // None that this program wrote.
        guard [EFBIG, ELOOP, EINVAL, ENXIO].contains(error.code) else { throw error }
        return nil
      }
      guard let note, let inbox = try? pipeline.subfolder("inbox") else { return nil }
      let taken = note.takenName
      if try inbox.status(ofRaw: taken) != nil {
        return Taking(artifactID: note.artifactID, file: taken, name: note.name)
      }
      // A power cut may have undone the renaming.
      guard note.isUnmoved(try inbox.status(ofRaw: note.name)) else { return nil }
      return Taking(artifactID: note.artifactID, file: note.name, name: note.name)
    })
}
