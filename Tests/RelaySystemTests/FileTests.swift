// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Testing

/// A folder for one test, removed afterwards.
func withFolder<T>(_ body: (Directory) throws -> T) throws -> T {
  var template = Array("/tmp/relay-system-XXXXXX".utf8CString)
  let path = String(cString: try #require(mkdtemp(&template)))
  defer { try? Directory("/tmp").removeTree(String(path.dropFirst(5))) }
  return try body(try Directory(path))
}

@Suite struct `Files and folders` {
  @Test func `a file is replaced whole and durably`() throws {
    try withFolder { folder in
      try folder.replace("state", with: Array("one".utf8))
      try folder.replace("state", with: Array("two".utf8))
      #expect(try folder.content(of: "state") == Array("two".utf8))
      #expect(try folder.names() == ["state"])
    }
  }

  @Test(arguments: [SystemCall.open, .write, .sync, .rename])
  func `a replace that fails leaves the old bytes and no litter`(call: SystemCall) throws {
    try withFolder { folder in
      try folder.replace("state", with: Array("one".utf8))
      FaultDoor.with([Fault(call, on: folder.path, .fails(ENOSPC))]) {
        #expect(throws: SystemError.self) { try folder.replace("state", with: Array("two".utf8)) }
      }
      #expect(try folder.content(of: "state") == Array("one".utf8))
      #expect(try folder.names() == ["state"])
    }
  }

  @Test func `short writes still write everything`() throws {
    try withFolder { folder in
      let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
      try FaultDoor.with([Fault(.write, on: folder.path, .short(7))]) { try folder.replace("long", with: bytes) }
      #expect(try folder.content(of: "long") == bytes)
    }
  }

  @Test func `links, FIFOs and folders are not opened as files`() throws {
    try withFolder { folder in
      #expect(symlink("/etc/passwd", folder.path + "/link") == 0)
      #expect(mkfifo(folder.path + "/fifo", 0o600) == 0)
      try folder.makeFolder("folder")
      for name in ["link", "fifo", "folder"] {
        #expect(throws: SystemError.self) { try folder.openFile(name) }
      }
    }
  }

  @Test func `a tree with odd names is removed whole and links in it are not followed`() throws {
    try withFolder { folder in
      try withFolder { other in
        try other.replace("kept", with: [1])
        try folder.makeFolder("tree")
        let tree = try folder.folder("tree")
        #expect(symlink(other.path, tree.path + "/link") == 0)
        #expect(mknod(tree.path + "/new\nline", S_IFREG | 0o600, 0) == 0)
        let raw: [CChar] = Array((tree.path + "/").utf8CString.dropLast()) + [-1, -2, 0]
        #expect(Glibc.close(Glibc.creat(raw, 0o600)) == 0)
        #expect(try tree.rawNames().count == 3)
        try folder.removeTree("tree")
        #expect(try folder.names() == [])
        #expect(try other.names() == ["kept"])
      }
    }
  }

  @Test func `a lock is held by one open file`() throws {
    try withFolder { folder in
      let first = try folder.openOrCreateFile("lock")
      let second = try folder.openOrCreateFile("lock")
      #expect(try first.lock())
      #expect(try second.lock() == false)
    }
  }

  @Test func `missing folders are made, existing ones opened`() throws {
    try withFolder { folder in
      let deep = try Directory.ensure(folder.path + "/a/b/c/")
      try deep.replace("x", with: [])
      #expect(try Directory.ensure(folder.path + "/a/b/c").names() == ["x"])
    }
  }
}
