// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `Where a backup goes and comes from` {
  private func prepared(running: Bool) throws -> Installation {
    let host = try Installation()
    try host.configure(
      Installation.filing("files"),
      """
      {"id": "letters", "extract": {"from": "inbox", "directory": "letters"}, "delivery": {},
       "load": {"target": "folder", "settings": {"directory": "out"}}}
      """)
    try host.shell("mkdir letters")
    #expect(try host.run("pause", "files").status == 0)
    try host.submit("files", "one", "two")
    if running { try host.start() }
    return host
  }

  @Test(arguments: [true, false])
  func `can be another file system, but no place in the state folder, an inbox or another backup`(running: Bool)
    throws
  {
    let host = try prepared(running: running)
    let other = "/dev/shm/relay-backup-\(Identifier.random())"
    defer { _ = try? host.shell("rm -rf \(other)") }
    let answer = try host.run("backup", other)
    #expect(answer.status == 0, "\(answer)")
    #expect(try host.run("backup", "--verify", other).status == 0)
    try host.shell("mkdir -p letters/deep full; touch full/photo.jpg; ln -s relay-data way")
    for (place, said) in [
      ("relay-data/backup", "lies in the state folder"), ("relay-data/pipelines/files/inbox/b", "the state folder"),
      ("way/backup", "lies in the state folder"), ("letters/backup", "lies in the inbox"),
      ("letters/deep", "lies in the inbox"), ("full", "holds photo.jpg"), ("nowhere/backup", "is the disk mounted?"),
      ("pipelines.json", "Not a directory"), (other, "holds a backup already"),
    ] {
      let path = place.hasPrefix("/") ? place : host.path + "/" + place
      let refused = try host.run("backup", path)
      #expect(refused.status == 2 || refused.status == 4, "\(place): \(refused)")
      #expect(refused.problems.contains(said), "\(place): \(refused.problems)")
      #expect(refused.problems.contains("backup.bad-folder"), "\(place): \(refused.problems)")
    }
    #expect(!host.names(in: "relay-data").contains("backup") && host.names(in: "letters") == ["deep"])
  }

  @Test func `that is full or can't be written to is told with its cure, and left as it was`() throws {
    let host = try prepared(running: true)
    try host.submit("files", String(repeating: "x", count: 3 << 20))
    if geteuid() == 0 {
      try host.shell("mkdir small && mount -t tmpfs -o size=1m none small")
      defer { _ = try? host.shell("umount small") }
      let full = try host.run("backup", host.path + "/small")
      #expect(full.status == 4 && full.problems.contains("backup.failed"), "\(full)")
      #expect(full.problems.contains("is full") && full.problems.contains("make room there"), "\(full.problems)")
      #expect(host.names(in: "small").isEmpty)
      try host.shell("mount -o remount,ro small")
      let closed = try host.run("backup", host.path + "/small")
      #expect(closed.status == 4 && closed.problems.contains("mounted read-only"), "\(closed)")
    } else {
      try host.shell("mkdir closed && chmod 500 closed")
      let closed = try host.run("backup", host.path + "/closed")
      #expect(closed.status == 4 && closed.problems.contains("must be able to write"), "\(closed)")
    }
    #expect(try host.run("backup", host.path + "/fine").status == 0)
  }

  @Test func `is checked to its last byte before anything is put back`() throws {
    let host = try prepared(running: false)
    #expect(try host.run("backup", host.path + "/backup").status == 0)
    let part = "pipelines/files/queue/0000000001/000001-1-file.txt"
    try Damage.flip(at: 1).apply(to: host.path + "/backup/" + part)
    for words in [["backup", "--verify", "backup"], ["restore", "backup", "--state", host.path + "/again"]] {
      let answer = try host.run(words)
      #expect(answer.status == 4 && answer.problems.contains("\(part) of the backup is damaged"), "\(answer)")
      #expect(answer.problems.contains("backup.damaged"))
    }
    #expect(!host.names(in: ".").contains("again"))
    try Damage.flip(at: 1).apply(to: host.path + "/backup/" + part)
    #expect(try host.run("backup", "--verify", "backup").status == 0)
  }

  @Test func `goes back only where no daemon runs and nothing is, and never into itself`() throws {
    let host = try prepared(running: true)
    #expect(try host.run("backup", host.path + "/backup").status == 0)
    let running = try host.run("restore", "backup")
    #expect(running.status == 4 && running.problems.contains("A daemon runs"), "\(running)")
    host.killHard()
    let full = try host.run("restore", "backup")
    #expect(full.status == 4 && full.problems.contains("restore.not-empty"), "\(full)")
    let itself = try host.shell("cd backup && $relay restore .")
    #expect(itself.status == 2 && itself.problems.contains("in the backup itself"), "\(itself)")
    #expect(!host.names(in: "backup").contains("relay-data"))
    // On another machine there is no configuration yet.
    let elsewhere = try host.shell("cd / && HOME=/nowhere $relay restore \(host.path)/backup --state \(host.path)/new")
    #expect(elsewhere.status == 0, "\(elsewhere)")
    #expect(elsewhere.output.contains("/backup/pipelines.json"))
    #expect(try host.run("backup", "--verify", "backup").status == 0)
  }

  @Test func `as another user says what is wrong`() throws {
    guard geteuid() == 0 else {
      print("skipped: only root can be another user for a moment")
      return
    }
    let host = try prepared(running: false)
    #expect(try host.run("backup", host.path + "/backup").status == 0)
    try host.shell("chmod -R a+rX backup; chmod 755 .; mv relay-data old; mkdir relay-data; chmod 755 relay-data")
    let asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups $relay"
    guard try host.shell("\(asNobody) version").status == 0 else {
      print("skipped: another user can't run the program where it was built")
      return
    }
    let stranger = try host.shell("\(asNobody) restore backup --config $config")
    #expect(stranger.status == 4 && stranger.problems.contains("Permission denied"), "\(stranger)")
    #expect(stranger.problems.contains("run this as the daemon's user"), "\(stranger.problems)")
    try host.shell("chown 65534 relay-data")
    let root = try host.run("restore", "backup")
    #expect(root.status == 4 && root.problems.contains("belongs to nobody"), "\(root)")
    try host.shell("chmod 700 backup")
    let closed = try host.shell("\(asNobody) restore backup --config $config")
    #expect(closed.status == 4 && closed.problems.contains("readable for this user"), "\(closed)")
    #expect(host.names(in: "relay-data").isEmpty)
  }
}
