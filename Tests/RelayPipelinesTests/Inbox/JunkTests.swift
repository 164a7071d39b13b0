// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Synchronization
import Testing

@testable import RelayPipelines

@Suite struct `What an inbox leaves alone` {
  @Test func `hidden and unfinished names and subfolders stay without a word`() throws {
    try withInbox { it in
      for name in [".hidden", "a.part", "a.tmp"] { try it.put(name, "x") }
      #expect(mkdir(it.inboxPath + "/folder", 0o700) == 0)
      #expect(it.lookTwice(apart: 100_000) == LookResult())
      #expect(try it.names() == [".hidden", "a.part", "a.tmp", "folder"])
      #expect(it.log.count("") == 0)
    }
  }

  @Test func `links and FIFOs stay and are reported once`() throws {
    try withInbox { it in
      try it.put("real", "x")
      #expect(symlink("/etc/hostname", it.inboxPath + "/link") == 0)
      #expect(symlink("nowhere", it.inboxPath + "/dangling") == 0)
      #expect(mkfifo(it.inboxPath + "/fifo", 0o600) == 0)
      for _ in 0..<4 { it.look(after: 2000) }
      #expect(try it.queued() == ["real=x"])
      #expect(try it.names() == ["dangling", "fifo", "link"])
      for name in ["link", "dangling", "fifo"] { #expect(it.log.count("\(name) left alone") == 1) }
    }
  }

  @Test func `an unreadable file is reported once and tried again, others go on`() throws {
    try withInbox { it in
      try it.put("bad", "1", modified: 1)
      try it.put("good", "2", modified: 2)
      try FaultDoor.with([Fault(.open, on: it.inboxPath + "/bad", .fails(EACCES))]) { () throws in
        let result = it.lookTwice()
        #expect(result.taken == 1 && result.waiting == 1 && result.lookAgain == 30_000 && result.problem == nil)
        #expect(result.trouble?.hasPrefix("bad in the inbox can't be read") == true)
        for _ in 0..<20 { #expect(it.look(after: 10_000).staying == 1) }
        #expect(it.log.count("bad can't be read") == 1)
      }
      let healed = it.look(after: InboxTroubles.longestPause)
      #expect(healed.taken == 1 && healed.trouble == nil)
      #expect(try it.queued() == ["good=2", "bad=1"])
    }
  }

  @Test func `a file that can't be read to its end leaves nothing in the queue and is tried again`() throws {
    try withInbox { it in
      try it.put("bad", "1")
      try FaultDoor.with([Fault(.read, on: it.inboxPath + "/bad", .fails(EIO))]) { () throws in
        #expect(it.lookTwice().taken == 0)
        #expect(try it.pipeline.queue.names() == [])
      }
      #expect(it.look(after: 30_000).taken == 1)
    }
  }

  @Test func `a long folder of files that fail is tried whole, each file once, and reported in few lines`() throws {
    let tried = Mutex(0)
    try withInbox({
      $0.finish = { (_: StagedArtifact) throws(InboxRefusal) in
        tried.withLock { $0 += 1 }
        throw .file("no such setting")
      }
    }) { it in
      let count = InboxLook.pageSize * 2 + 76
      for number in 0..<count { try it.put("file \(number)", "x") }
      let result = it.lookTwice()
      #expect(result.waiting == count)
      #expect(tried.withLock { $0 } == count)
      #expect(it.log.count("no such setting") == InboxTroubles.mostLines)
      #expect(it.log.count("\(count - InboxTroubles.mostLines) more files") == 1)
      #expect(try it.names().count == count)
    }
  }

  @Test func `a look takes so many files at most and says that there are more`() throws {
    try withInbox({ $0.mostPerLook = 3 }) { it in
      for number in 0..<7 { try it.put("\(number)", "x", modified: number) }
      #expect(it.lookTwice() == LookResult(taken: 3, waiting: 0, lookAgain: 0))
      #expect(try it.names() == ["3", "4", "5", "6"])
      #expect(it.look().taken == 3)
      #expect(it.look().taken == 1)
      #expect(try it.queued() == (0..<7).map { "\($0)=x" })
    }
  }
}

@Suite struct `An inbox that can't take anything now` {
  @Test func `a full pipeline leaves the files there, says so once, and goes on when there is room`() throws {
    try withInbox(limits: QueueLimits(artifacts: 1, freeBytes: 0, freeInodes: 0)) { it in
      try it.put("a", "1", modified: 1)
      try it.put("b", "2", modified: 2)
      let result = it.lookTwice()
      #expect(result.taken == 1)
      guard case .queue(.pipelineFull) = result.problem else {
        Issue.record("\(result)")
        return
      }
      for _ in 0..<3 { #expect(it.look(after: 30_000).taken == 0) }
      #expect(try it.names() == ["b"])
      #expect(it.log.count("is full") == 1)
      try it.pipeline.remove(1)
      #expect(it.look(after: 30_000).taken == 1)
      #expect(it.log.count("again") == 1)
    }
  }

  @Test func `a full disk leaves the files there and says so once`() throws {
    try withInbox { it in
      try it.put("a", "1")
      try FaultDoor.with([Fault(.write, on: it.root + "/pipelines/scans/queue", .fails(ENOSPC))]) { () throws in
        it.lookTwice()
        for _ in 0..<3 { #expect(it.look(after: 30_000).problem != nil) }
        #expect(it.log.count("stay in the inbox") == 1)
        #expect(try it.pipeline.queue.names() == [])
      }
      #expect(it.look(after: 30_000) == LookResult(taken: 1))
      #expect(try it.queued() == ["a=1"])
    }
  }

  @Test func `a missing folder is reported, never made, and used when it is there`() throws {
    try withInbox(isOwn: false) { it in
      #expect(rmdir(it.inboxPath) == 0)
      for _ in 0..<3 { #expect(it.look(after: 30_000).problem == .folderMissing(it.inboxPath)) }
      #expect(it.log.count("is not there") == 1)
      #expect(access(it.inboxPath, F_OK) != 0)
      #expect(mkdir(it.inboxPath, 0o700) == 0)
      try it.put("a", "1")
      #expect(it.lookTwice().taken == 1)
    }
  }

  @Test func `the pipeline's own folder is made`() throws {
    try withInbox { (it: InboxFixture) throws in
      #expect(rmdir(it.inboxPath) == 0)
      #expect(it.look() == LookResult())
      let names = try it.names()
      #expect(names.isEmpty)
    }
  }

  @Test func `nothing is taken from a folder out of which nothing can be removed`() throws {
    try withInbox { it in
      try it.put("a", "1")
      try FaultDoor.with([Fault(.rename, on: it.inboxPath, .fails(EACCES))]) { () throws in
        it.lookTwice()
        for _ in 0..<3 { it.look(after: 30_000) }
        #expect(it.log.count("can't be removed from the inbox") == 1)
        #expect(try it.queued() == [])
        #expect(try it.names() == ["a"])
      }
      #expect(it.look(after: 30_000).taken == 1)
    }
  }

  @Test func `a file that can't be removed after it was taken is not taken again`() throws {
    try withInbox { it in
      try it.put("a", "1", modified: 1)
      try it.put("b", "2", modified: 2)
      try FaultDoor.with([Fault(.unlink, on: it.inboxPath, .fails(EIO))]) { () throws in
        it.lookTwice()
        for _ in 0..<3 { it.look(after: 30_000) }
        #expect(try it.queued() == ["a=1"])
        #expect(it.log.count("was taken but can't be removed") == 1)
      }
      #expect(it.look(after: 30_000).taken == 1)
      #expect(try it.queued() == ["a=1", "b=2"])
      #expect(try it.names() == [])
    }
  }
}
