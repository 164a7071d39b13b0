// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The user that workers run as, where that isn't the host's own.
package struct WorkerIdentity: Equatable, Sendable {
  package var user: UInt32
  package var group: UInt32
  /// The further groups.
  package var groups: [UInt32]

  package init(user: UInt32, group: UInt32, groups: [UInt32]) {
    self.user = user
    self.group = group
    self.groups = groups
  }

  /// The owner of a state folder where the program runs as root and that is somebody else. Blocking.
  package static func owner(ofStateFolder path: String) -> WorkerIdentity? {
    var about = stat()
    guard geteuid() == 0, stat(path, &about) == 0, about.st_uid != 0 else { return nil }
    return of(user: about.st_uid, otherwiseGroup: about.st_gid)
  }

  /// A user with the groups that the machine's database gives it; where it knows none, only the given one.
  static func of(user: UInt32, otherwiseGroup group: UInt32) -> WorkerIdentity {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var room = [CChar](repeating: 0, count: 16384)
    guard getpwuid_r(user, &entry, &room, room.count, &found) == 0, found != nil, let name = entry.pw_name else {
      return WorkerIdentity(user: user, group: group, groups: [])
    }
    var groups = [gid_t](repeating: 0, count: 64)
    var count = Int32(groups.count)
    // Of more than fit the first are told: then the worker may do less, not more.
    _ = getgrouplist(name, entry.pw_gid, &groups, &count)
    return WorkerIdentity(
      user: user, group: entry.pw_gid, groups: Array(groups.prefix(Int(max(0, min(count, Int32(groups.count)))))))
  }
}
