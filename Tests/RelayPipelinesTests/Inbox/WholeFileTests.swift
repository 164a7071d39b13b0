// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@testable import RelayPipelines

@Suite struct `Taking whole files from an inbox` {
  @Test func `a file that nobody touches for two seconds becomes an artifact and leaves the inbox`() throws {
    try withInbox { it in
      try it.put("report.pdf", "hello")
      let first = it.look()
      #expect(first == LookResult(taken: 0, waiting: 1, lookAgain: 2000))
      #expect(it.look(after: 1999).lookAgain == 1)
      #expect(it.look(after: 1) == LookResult(taken: 1))
      #expect(try it.queued() == ["report.pdf=hello"])
      #expect(try it.names() == [])
      #expect(it.look(after: 60_000) == LookResult())
      #expect(try it.queued().count == 1)
    }
  }

  @Test func `a file that is open for writing is left until it is closed`() throws {
    try withInbox { it in
      let file = try #require(it.write(Array("slow".utf8), O_WRONLY | O_CREAT, "one "))
      it.lookTwice(apart: 60_000)
      #expect(it.look(after: 60_000).taken == 0)
      #expect(it.log.count("open for writing") == 1)
      #expect(write(file, "two", 3) == 3)
      close(file)
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["slow=one two"])
    }
  }

  @Test func `each write begins the quiet time anew, also with the file closed in between`() throws {
    try withInbox { it in
      try it.put("log", "a")
      for _ in 0..<5 {
        #expect(it.look(after: 1500).taken == 0)
        #expect(append("a", to: it.inboxPath + "/log"))
      }
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["log=aaaaaa"])
    }
  }

  @Test func `a time of change in the future or long ago neither delays nor hastens a file`() throws {
    try withInbox { it in
      try it.put("future", "f", modified: 4_000_000_000)
      try it.put("past", "p", modified: 1)
      #expect(it.look().taken == 0)
      #expect(it.look(after: 2000).taken == 2)
      #expect(try it.queued() == ["past=p", "future=f"])
    }
  }

  @Test func `files are taken by time of change, then by name`() throws {
    try withInbox { it in
      try it.put("c", "1", modified: 100)
      try it.put("b", "2", modified: 200)
      try it.put("a", "3", modified: 200)
      try it.put("0", "4", modified: 300)
      it.lookTwice()
      #expect(try it.queued() == ["c=1", "a=3", "b=2", "0=4"])
    }
  }

  @Test func `a file that is moved in is taken with its bytes`() throws {
    try withInbox { it in
      let outside = it.root + "/made-elsewhere"
      let folder = try Directory(it.root)
      try folder.replace("made-elsewhere", with: Array("moved".utf8))
      #expect(rename(outside, it.inboxPath + "/moved") == 0)
      #expect(it.lookTwice().taken == 1)
      #expect(try it.queued() == ["moved=moved"])
    }
  }

  @Test func `where leases don't work a file must be quiet for ten seconds`() throws {
    for code in [EINVAL, EACCES, EOPNOTSUPP] {
      try withInbox { it in
        try FaultDoor.with([Fault(.lease, on: it.root, .fails(code))]) { () throws in
          try it.put("x", "y")
          #expect(it.lookTwice(apart: 2000) == LookResult(taken: 0, waiting: 1, lookAgain: 8000))
          #expect(it.look(after: 7999).taken == 0)
          #expect(it.look(after: 1).taken == 1)
          #expect(try it.queued() == ["x=y"])
        }
      }
    }
  }

  @Test func `names with newlines, of 255 bytes or that are not UTF-8 are taken and removed`() throws {
    try withInbox { it in
      try it.put("two\nlines", "1", modified: 1)
      try it.put([UInt8](repeating: 120, count: 255), "2", 2)
      try it.put([0xFF, 0xFE, 0x41], "3", 3)
      try it.put("-rf *;'\"", "", modified: 4)
      #expect(it.lookTwice().taken == 4)
      let names = try it.queued()
      #expect(names[0] == "two_lines=1")
      #expect(names[1] == String(repeating: "x", count: 255) + "=2")
      #expect(names[2] == "\u{FFFD}\u{FFFD}A=3")
      #expect(names[3] == "-rf *;'\"=")
      #expect(try Directory(it.inboxPath).rawNames().isEmpty)
    }
  }
}

@Suite struct `Files that change while they are taken` {
  @Test func `a writer that comes during the copy keeps the file in the inbox`() throws {
    let hook = Hook()
    try withInbox({ $0.finish = { _ in hook.strike() } }) { it in
      let path = it.inboxPath + "/x"
      try it.put("x", "early")
      // The lease holds the writer up, and the inbox sees that somebody waits.
      hook.set { #expect(!append(" late", to: path)) }
      #expect(it.lookTwice().taken == 0)
      #expect(try it.queued() == [])
      #expect(append(" late", to: path))
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["x=early late"])
      #expect(try it.pipeline.queue.names() == ["0000000001"])
    }
  }

  @Test func `bytes that come during the copy where leases don't work keep the file in the inbox`() throws {
    let hook = Hook()
    try withInbox({ $0.finish = { _ in hook.strike() } }) { it in
      try FaultDoor.with([Fault(.lease, on: it.root, .fails(EINVAL))]) { () throws in
        let path = it.inboxPath + "/x"
        try it.put("x", "early")
        hook.set { #expect(append(" late", to: path)) }
        #expect(it.lookTwice(apart: 10_000).taken == 0)
        it.look()
        #expect(it.look(after: 10_000).taken == 1)
        #expect(try it.queued() == ["x=early late"])
      }
    }
  }

  @Test func `another file that takes the name during the copy isn't removed in its place`() throws {
    let hook = Hook()
    try withInbox({ $0.finish = { _ in hook.strike() } }) { it in
      let path = it.inboxPath
      try it.put("x", "first")
      try it.put(".next", "second")
      hook.set { #expect(rename(path + "/.next", path + "/x") == 0) }
      #expect(it.lookTwice().taken == 0)
      #expect(try it.names() == ["x"])
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["x=second"])
    }
  }

  @Test func `a writer that comes after the commit gets its bytes into a second artifact`() throws {
    try withInbox { it in
      try it.put("x", "early")
      let path = it.inboxPath
      let hook = Hook()
      hook.set {
        // As one who had looked the name up before it changed.
        let names = (try? Directory(path).names()) ?? []
        for name in names { #expect(!append("", to: path + "/" + name)) }
      }
      it.log.onEntry { if $0.message.contains("taken from the inbox") { hook.strike() } }
      #expect(it.lookTwice().taken == 1)
      #expect(try it.names() == ["x"])
      #expect(append(" late", to: path + "/x"))
      it.look()
      #expect(it.look(after: 2000).taken == 1)
      #expect(try it.queued() == ["x=early", "x=early late"])
      #expect(try it.names() == [])
    }
  }
}
