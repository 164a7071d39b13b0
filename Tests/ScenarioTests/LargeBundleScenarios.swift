// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Bundles that take a while to make, and disks that have no room for one.
@Suite struct `A large bundle` {
  private static let unfinished = ".bundle.new"

  /// Two files that don't get smaller; their digests by name.
  private func makeFiles(_ host: Installation, megabytes: Int) throws -> [String: String] {
    let made = try host.shell(
      """
      for n in 1 2; do
        openssl enc -aes-128-ctr -K 0$n -iv 00 -in /dev/zero 2>/dev/null | head -c \(megabytes << 20) > $n.bin
      done
      sha256sum 1.bin 2.bin
      """)
    guard made.status == 0 else { throw ScenarioProblem(made.problems) }
    return digests(made.output)
  }

  private func digests(_ text: String) -> [String: String] {
    var found: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { found[String(words[1])] = String(words[0]) }
    }
    return found
  }

  /// The digests of the files in what was received last.
  private func received(_ host: Installation) throws -> [String: String] {
    let script = """
      import hashlib, sys, zipfile
      z = zipfile.ZipFile(sys.argv[1])
      for e in z.infolist(): print(hashlib.sha256(z.read(e)).hexdigest(), e.filename)
      """
    let last = try #require(host.names(in: "crate").last { $0.hasSuffix(".got") })
    return digests(try Command.run(["python3", "-c", script, "\(host.path)/crate/\(last)"]).output)
  }

  private func entry(_ host: Installation) -> String {
    "relay-data/pipelines/mail/queue/\(host.queue("mail").first ?? "none")"
  }

  /// Waits until a bundle is in the making.
  private func isBegun(_ host: Installation) -> Bool {
    eventually(within: 30) {
      var status = stat()
      return stat("\(host.path)/\(entry(host))/\(Self.unfinished)", &status) == 0 && status.st_size > 1 << 20
    }
  }

  @Test func `in the making hinders nobody, and a kill, a stop and a drop in the middle leave no trace`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail"), Installation.filing("good"))
    let files = try makeFiles(host, megabytes: 80)
    try host.start()
    let before = ProcessTable.residentBytes(host.pid)
    #expect(try host.shell("relay submit mail 1.bin 2.bin").status == 0)
    #expect(isBegun(host))
    try host.submit("good", "fine", name: "good.txt")
    #expect(eventually(within: 5) { host.text(of: "out/good.txt") == "fine" })
    #expect(try host.status("mail")["state"]?.string == "queued")
    #expect(host.names(in: entry(host)).contains(Self.unfinished), "it took less long than what was to go on beside it")
    #expect(Sanitizer.isOn || ProcessTable.residentBytes(host.pid) - before < 12 << 20)

    host.killHard()
    try host.start()
    #expect(isBegun(host))
    #expect(host.stop() == .exited(0))
    #expect(host.names(in: entry(host)) == ["000001-1.bin", "000002-2.bin", "manifest.json"])

    try host.start()
    #expect(isBegun(host))
    let artifact = String(host.queue("mail").first ?? "")
    #expect(try host.run("queue", "drop", "mail", artifact.drop { $0 == "0" }.description).status == 0)
    let aside = "relay-data/pipelines/mail/refused/\(artifact)"
    #expect(host.names(in: aside) == ["000001-1.bin", "000002-2.bin", "manifest.json", "reason.json"])
    #expect(try crate.deliveries().isEmpty)

    #expect(try host.run("refused", "resend", "mail", artifact).status == 0)
    let arrived = try eventually(within: 120) { try host.queue("mail").isEmpty && crate.deliveries().count == 1 }
    let state = try host.run("status", "--json").output
    #expect(arrived, "\(host.names(in: entry(host))) \(state) \(host.log)")
    #expect(try received(host) == files)
    #expect(try crate.deliveries().first?.number("attempt") == 1)
    #expect(host.deliveriesOnDisk("mail").map { $0["verdict"]?.string } == ["delivered"])
  }

  @Test func `that turns out damaged while it is sent is made again, the same`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    try host.configure(crate.pipeline("mail"))
    let files = try makeFiles(host, megabytes: 2)
    try crate.answers("retry")
    try host.start()
    #expect(try host.shell("relay submit mail 1.bin 2.bin").status == 0)
    #expect(try eventually { try crate.deliveries().count == 1 })
    try host.run("pause", "mail")
    let bundle = try #require(host.names(in: entry(host)).first { $0.hasPrefix("000000-") })
    let whole = try File.bytes(of: "\(host.path)/\(entry(host))/\(bundle)")
    try Damage.flip(at: whole.count - 1).apply(to: "\(host.path)/\(entry(host))/\(bundle)")
    try crate.answers(nil)
    try host.run("resume", "mail")
    #expect(eventually { host.log.contains("was damaged on the disk; it is made again from its parts") })
    // Else it would be half a minute.
    #expect(try eventually { try host.run("retry", "mail").status == 0 && host.queue("mail").isEmpty })
    #expect(try received(host) == files)
    #expect(try crate.deliveries().last?.bytes == whole)
  }

  @Test func `for which the disk has no room waits, says so, and goes when there is room`() throws {
    let host = try Installation()
    let crate = try Crate(host)
    guard mkdir(host.state, 0o700) == 0 else { throw CallError("mkdir") }
    // Room for both parts and the reserve, not for the bundle besides; the copies of the targets take some too.
    let copies = try host.shell("cat '\(Repository.products)'/*.so targets/*.so | wc -c").output
    let room = 39 + (Int(copies.filter(\.isNumber)) ?? 0) >> 20
    guard mount("tmpfs", host.state, "tmpfs", 0, "size=\(room)m,mode=700") == 0 else {
      print("skipped: a tmpfs can't be mounted here (\(String(cString: strerror(errno)))); run as root")
      return
    }
    defer {
      host.killHard()
      umount2(host.state, Int32(MNT_DETACH))
    }
    try host.configure(crate.pipeline("mail"), Installation.filing("good"))
    let files = try makeFiles(host, megabytes: 10)
    try host.start()
    #expect(try host.shell("relay submit mail 1.bin 2.bin").status == 0)
    #expect(try eventually { try host.status("mail")["trouble"]?.string?.contains("no room for the bundle") == true })
    #expect(host.names(in: entry(host)) == ["000001-1.bin", "000002-2.bin", "manifest.json"])
    try host.submit("good", "fine", name: "good.txt")
    #expect(eventually { host.text(of: "out/good.txt") == "fine" })
    host.killHard()
    try host.start()
    #expect(try eventually { try host.status("mail")["trouble"]?.string?.contains("no room for the bundle") == true })
    guard mount("tmpfs", host.state, "tmpfs", UInt(MS_REMOUNT), "size=\(room + 48)m") == 0 else {
      throw CallError("remount")
    }
    try host.run("retry", "mail")
    #expect(try eventually { try host.queue("mail").isEmpty && crate.deliveries().count == 1 })
    #expect(try received(host) == files)
  }
}
