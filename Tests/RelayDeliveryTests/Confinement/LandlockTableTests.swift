// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import Testing

/// The table against the kernel's own numbers (Documentation/userspace-api/landlock.rst, "Previous limitations").
@Suite struct `The rights of each level of Landlock` {
  @Test(
    arguments: [
      (0, 0, 0), (1, 0x1FFF, 0), (2, 0x3FFF, 0), (3, 0x7FFF, 0), (4, 0x7FFF, 0), (5, 0xFFFF, 0), (6, 0xFFFF, 3),
      (7, 0xFFFF, 3),
    ] as [(Int32, UInt64, UInt64)])
  func `are all that it knows, but for the network`(level: Int32, files: UInt64, scopes: UInt64) {
    let known = relay_landlock(level)
    #expect(known.files == files && known.scopes == scopes)
    #expect(known.network == 0 && known.restrict_flags == 0)
  }

  @Test func `are those of the newest one on a kernel that is newer, and none on one without`() {
    let (newer, newest) = (relay_landlock(99), relay_landlock(RELAY_LANDLOCK_NEWEST))
    #expect(newer.files == newest.files && newer.scopes == newest.scopes)
    #expect(relay_landlock(-1).files == 0)
  }

  @Test func `let a path be read, or changed, and never run`() {
    for level in 1...RELAY_LANDLOCK_NEWEST {
      let known = relay_landlock(level).files
      let rights = { (access: UInt32, isFolder: Bool) in relay_landlock_rights(level, access, isFolder) }
      #expect(rights(RELAY_ACCESS_READ, false) == 0x4 && rights(RELAY_ACCESS_READ, true) == 0xC)
      #expect(rights(RELAY_ACCESS_WRITE, false) == (0x4006 & known))
      // Files and folders are made, moved and removed; devices, pipes, sockets and links aren't.
      #expect(rights(RELAY_ACCESS_WRITE, true) == (0x61BE & known))
      #expect(rights(0, true) == 0 && rights(3, true) == 0)
      for access in [RELAY_ACCESS_READ, RELAY_ACCESS_WRITE] {
        for isFolder in [false, true] { #expect(rights(access, isFolder) & 0x1 == 0) }
      }
    }
  }
}
