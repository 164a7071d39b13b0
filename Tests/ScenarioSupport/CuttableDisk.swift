// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport

/// An ext4 file system in a file whose power can be cut: nothing that was not synced survives.
package final class CuttableDisk: Sendable {
  /// Where it is mounted.
  package let path: String
  private let image: String
  private let pristine: String

  /// nil where that isn't possible, with the reason printed.
  package init?(in folder: String) {
    (image, pristine, path) = (folder + "/image", folder + "/pristine", folder + "/disk")
    let made = Self.shell(
      "truncate -s 64M '\(pristine)' && mkfs.ext4 -q -F -E root_owner='\(geteuid())':'\(getegid())' '\(pristine)'"
        + " && mkdir '\(path)' && cp --sparse=always '\(pristine)' '\(image)' && mount -o loop '\(image)' '\(path)'"
        + " && rmdir '\(path)/lost+found'")
    guard made else {
      print("skipped: no ext4 file system can be mounted here; run as root with e2fsprogs installed")
      return nil
    }
  }

  deinit { _ = unmount() }

  /// FS_IOC_SHUTDOWN without flushing the journal; every later call on the file system fails.
  package func cut() -> Bool {
    guard let folder = try? Directory(path) else { return false }
    var flags: UInt32 = 2
    return ioctl(folder.descriptor.number, 0x8004_587D, &flags) == 0
  }

  /// Mounts it again, as after the power came back.
  package func restart() -> Bool { unmount() && Self.shell("mount -o loop '\(image)' '\(path)'") }

  /// An empty file system again.
  package func renew() -> Bool {
    unmount()
      && Self.shell(
        "cp --sparse=always '\(pristine)' '\(image)' && mount -o loop '\(image)' '\(path)' && rmdir '\(path)/lost+found'"
      )
  }

  /// Threads and processes that end still hold descriptors for a moment.
  package func unmount() -> Bool {
    eventually(within: 20) { umount2(path, 0) == 0 || errno != EBUSY }
  }

  private static func shell(_ script: String) -> Bool {
    (try? Command.run(["sh", "-c", script]).status) == 0
  }
}
