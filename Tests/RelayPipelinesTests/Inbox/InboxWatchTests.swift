// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport
import Testing

@testable import RelayPipelines

@Suite struct `Hints about inboxes` {
  @Test func `a new file hints at its pipeline`() throws {
    try withInbox { it in
      let watch = try InboxWatch()
      #expect(watch.add(it.inboxPath, for: "scans"))
      #expect(!watch.add(it.root + "/missing", for: "other"))
      #expect(watch.takeHint() == .pipelines([]))
      try it.put("x", "y")
      #expect(eventually { watch.takeHint() == .pipelines(["scans"]) })
      watch.remove("scans")
      try it.put("z", "y")
      #expect(watch.takeHint() == .pipelines([]))
    }
  }

  @Test func `a folder that is replaced is watched again at the next regular look`() throws {
    try withInbox { it in
      let watch = try InboxWatch()
      watch.add(it.inboxPath, for: "scans")
      #expect(rmdir(it.inboxPath) == 0)
      #expect(mkdir(it.inboxPath, 0o700) == 0)
      #expect(watch.add(it.inboxPath, for: "scans"))
      _ = watch.takeHint()
      try it.put("x", "y")
      #expect(eventually { watch.takeHint() == .pipelines(["scans"]) })
    }
  }

  @Test func `a look follows a hint soon, a result when it says, and else every thirty seconds`() {
    let start = BootTime(nanoseconds: 0)
    var schedule = InboxSchedule(now: start)
    #expect(schedule.due == start)
    schedule.looked(LookResult(), now: start)
    #expect(schedule.due == start.advanced(milliseconds: InboxSchedule.regular))
    schedule.hinted(now: start)
    #expect(schedule.due == start.advanced(milliseconds: InboxSchedule.gather))
    schedule.looked(LookResult(lookAgain: 2000), now: start)
    #expect(schedule.due == start.advanced(milliseconds: 2000))
    schedule.looked(LookResult(lookAgain: 600_000), now: start)
    #expect(schedule.due == start.advanced(milliseconds: InboxSchedule.regular))
  }
}
