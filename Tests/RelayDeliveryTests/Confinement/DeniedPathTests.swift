// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelaySystem
import Testing

@testable import RelayDelivery

@Suite struct `Files that a target tries to get at` {
  private static let letInto = WorkerConfinement(paths: [
    .init("/usr/share/zoneinfo-x"), .init("/srv/out", .write), .init("/srv/note.txt"),
  ])
  /// Where paths lead in a machine of which everything else is as it is named.
  private static let links = ["/srv/out/escape": "/etc/shadow", "/srv/me/out": "/srv/out"]
  private static let missing: Set = ["/srv/out/new", "/srv/me/new", "/srv/gone", "/usr/share/zoneinfo-x/new"]

  private func judge() -> PathJudge {
    let access = WorkerAccess([], .none, Self.letInto)
    return PathJudge(access, copy: "/state/targets/abc.so") { path throws(SystemError) in
      if Self.missing.contains(path) { throw SystemError(call: .open, code: ENOENT, subject: path) }
      if path.hasPrefix("/locked/") { throw SystemError(call: .open, code: EACCES, subject: path) }
      return Self.links[path] ?? path
    }
  }

  /// What is told of a call by name, with its arguments but the path's own.
  private func told(_ name: String, _ path: String, _ others: [Int: Int32] = [:]) throws -> String? {
    let call = try #require(WatchedCall.byName[name])
    var arguments = [UInt64](repeating: 0, count: 6)
    for (index, value) in others { arguments[index] = UInt64(UInt32(bitPattern: value)) }
    let asked = SystemCallListener.Call(number: 1, process: 77, arguments: arguments)
    return judge().denial(of: path, call, asked)?.words
  }

  @Test func `are told with what it tried, and whether they may be read`() throws {
    #expect(
      try told("openat", "/etc/shadow")
        == "The target tried to read /etc/shadow, which none of its settings names; it was denied.")
    #expect(try told("open", "/etc/hosts", [1: O_RDWR])?.contains("write to /etc/hosts, which none") == true)
    #expect(try told("open", "/srv/note.txt", [1: O_WRONLY])?.contains("/srv/note.txt, which it may only read") == true)
    #expect(try told("openat", "/srv/me/new", [2: O_WRONLY | O_CREAT])?.contains("make /srv/me/new, which") == true)
    #expect(try told("mkdir", "/srv/me/new")?.contains("make /srv/me/new") == true)
    #expect(try told("unlink", "/srv/note.txt")?.contains("remove /srv/note.txt, which none") == true)
    #expect(try told("rename", "/srv/me/x")?.contains("move /srv/me/x") == true)
    #expect(try told("truncate", "/srv/me/x")?.contains("cut /srv/me/x") == true)
    #expect(try told("openat", "/locked/id")?.contains("read /locked/id, which none") == true)
    #expect(
      try told("symlink", "/srv/out/x")?.contains("make a symbolic link at /srv/out/x, which no target may") == true)
    #expect(try told("mknod", "/srv/out/x", [1: Int32(S_IFIFO | 0o600)])?.contains("which no target may") == true)
  }

  @Test func `are told by where their links lead, not by their names`() throws {
    #expect(try told("open", "/srv/out/escape")?.contains("/srv/out/escape, which none") == true)
    #expect(try told("open", "/srv/me/out", [1: O_RDWR]) == nil)
  }

  @Test func `aren't told where it may be, where nothing is, or where only the name is asked for`() throws {
    #expect(try told("open", "/srv/out/x", [1: O_RDWR | O_CREAT]) == nil)
    #expect(try told("open", "/srv/out/new", [1: O_RDWR | O_CREAT]) == nil)
    #expect(try told("mknod", "/srv/out/x", [1: Int32(S_IFREG | 0o600)]) == nil)
    #expect(try told("open", "/usr/share/zoneinfo-x/Berlin") == nil && told("open", "/state/targets/abc.so") == nil)
    #expect(try told("open", "/srv/gone") == nil && told("open", "/srv/me/new", [1: O_RDWR]) == nil)
    #expect(try told("open", "/etc/shadow", [1: 0o10000000]) == nil)
    #expect(try told("open", "relative") == nil)
    #expect(try told("open", "/proc/self/maps") == nil && told("open", "/proc/77/maps") == nil)
    #expect(try told("open", "/proc/stat") == nil)
    #expect(try told("open", "/proc/78/maps") != nil && told("open", "/proc/self/cwd/etc/shadow") != nil)
  }

  @Test func `have names that are fit for the log`() throws {
    let words = try #require(try told("open", "/tmp/a\nlevel=error msg=\u{1B}[31m"))
    #expect(!words.contains("\n") && !words.contains("\u{1B}"))
  }
}

@Suite struct `Calls about files that are carried out when asked about` {
  private func call(_ arguments: [Int32]) -> SystemCallListener.Call {
    SystemCallListener.Call(number: 1, process: 1, arguments: arguments.map { UInt64(UInt32(bitPattern: $0)) })
  }

  @Test func `are denied all the same for files with their owner's rights, and for cutting where Landlock can't`()
    throws
  {
    let openat = try #require(WatchedCall.byName["openat"])
    let making = call([AT_FDCWD, 0, O_WRONLY | O_CREAT, 0o4755])
    #expect(openat.isForbidden(making, landlock: 7))
    #expect(openat.isForbidden(call([AT_FDCWD, 0, O_WRONLY | 0o20000000, 0o2755]), landlock: 7))
    // A mode means nothing where nothing is made.
    #expect(!openat.isForbidden(call([AT_FDCWD, 0, O_WRONLY, 0o4755]), landlock: 7))
    #expect(try #require(WatchedCall.byName["creat"]).isForbidden(call([0, 0o4755]), landlock: 7))
    #expect(try #require(WatchedCall.byName["mknodat"]).isForbidden(call([AT_FDCWD, 0, 0o2755]), landlock: 7))
    #expect(try !#require(WatchedCall.byName["mkdir"]).isForbidden(call([0, 0o4755]), landlock: 7))
    for (level, isForbidden) in [(2, true), (3, false)] {
      #expect(openat.isForbidden(call([AT_FDCWD, 0, O_RDONLY | O_TRUNC, 0]), landlock: level) == isForbidden)
      #expect(try #require(WatchedCall.byName["truncate"]).isForbidden(call([0, 0]), landlock: level) == isForbidden)
    }
    #expect(!openat.isForbidden(call([]), landlock: 7))
  }
}
