// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// An installation with a target that tries everything, and what it could get hold of.
private struct Besieged {
  static let nothing = "nothing forbidden was reached, everything needed works"
  let host: Installation
  let receiver: Receiver

  init(program: String = Installation.program, mode: String = "", top: String = "", owner: String? = nil) throws {
    host = try Installation(program: program)
    receiver = try Receiver()
    // Not a link: the daemon's user may not be who compiled it.
    try host.shell(
      "cp \(try FixtureTarget.compile("intruder")) targets/libintruder.so; echo mine > victim; echo n > note")
    try host.shell("mkdir typed; touch typed/inside; chmod 600 victim; touch -d 2020-01-01 victim; chmod 755 .")
    try host.configure(
      Installation.filing("other"),
      Installation.fixture(
        "intruder", target: "org.example.intruder",
        settings: """
          "state": "\(host.state)", "home": "\(host.path)", "folder": "typed", "note": "note", "mode": "\(mode)",
          "port": \(receiver.port), "key": {"secret": "key"}
          """, delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\""), top: top)
    if let owner { try host.shell("chown -R \(owner) .") }
    try #require(host.run(["secret", "set", "key"], input: "hunter22 hunter22").status == 0)
  }

  /// Delivers once; the message of the delivery, which names what was reached or failed.
  func report() throws -> String {
    try host.start()
    try host.submit("intruder", "x")
    try #require(eventually(within: 30) { host.deliveriesOnDisk("intruder").count == 1 }, "\(host.log)")
    return host.deliveriesOnDisk("intruder").first?["message"]?.string ?? ""
  }

  /// What lies outside is as it was.
  var isUnharmed: Bool {
    get throws {
      let seen = try host.shell("cat victim; stat -c %a-%Y victim; ls; ls typed; ls /tmp/relay-intruder-was-here")
        .output
      return seen.hasPrefix("mine\n600-\(Self.oldTime)") && !seen.contains("evil") && !seen.contains("was-here\n")
    }
  }

  private static let oldTime: Int = {
    var parts = tm(
      tm_sec: 0, tm_min: 0, tm_hour: 0, tm_mday: 1, tm_mon: 0, tm_year: 120, tm_wday: 0, tm_yday: 0, tm_isdst: -1,
      tm_gmtoff: 0, tm_zone: nil)
    return mktime(&parts)
  }()
}

@Suite struct `A target that tries everything` {
  @Test func `reaches nothing, has what it needs, and others don't notice`() throws {
    let besieged = try Besieged()
    #expect(try besieged.report() == Besieged.nothing)
    #expect(besieged.host.log.contains("denied state folder") && besieged.host.log.contains("denied /etc/passwd"))
    #expect(try besieged.isUnharmed)
    try besieged.host.submit("other", "fine", name: "fine.txt")
    #expect(eventually { besieged.host.text(of: "out/fine.txt") == "fine" })
    let status = try besieged.host.run("status", "--json").json
    #expect(status?["confinement"]?["lacking"]?.array?.isEmpty == true)
    #expect((status?["confinement"]?["landlock"]?.integer ?? 0) > 0)
  }

  @Test(.enabled(if: SurroundedProgram.isNobodyPossible, "only root can become somebody else"))
  func `reaches nothing as an ordinary user either`() throws {
    let besieged = try Besieged(program: SurroundedProgram.asNobody(), owner: "65534:65534")
    #expect(try besieged.report() == Besieged.nothing)
    #expect(try besieged.isUnharmed)
    #expect(besieged.host.log.contains("(execve), which no target may"))
  }

  @Test func `is told of in the log, call by call, but not of what libraries try in passing`() throws {
    let besieged = try Besieged()
    let host = besieged.host
    #expect(try besieged.report() == Besieged.nothing)
    host.stop()
    let told = [
      "execve", "execveat", "clone", "ptrace", "process_vm_readv", "kill", "tgkill", "tkill", "pidfd_open", "prlimit64",
      "setsid", "prctl", "setuid", "fchmodat2", "fchownat", "setxattr", "utimensat", "listen", "accept", "socket",
      "socketpair", "fcntl", "ioctl", "init_module", "finit_module", "mount", "umount2", "unshare", "setns", "bpf",
      "perf_event_open", "reboot", "shmget", "mq_open",
    ]
    for call in told {
      #expect(host.log.components("(\(call)), which no target may; it was denied.") == 1, "\(call)")
    }
    #expect(host.log.contains("The target tried to start a program (execve), which"), "\(host.log)")
    #expect(host.log.contains("The target was denied prctl "), "\(host.log)")
    for call in ["keyctl", "inotify_init1", "getxattr", "io_uring_setup"] {
      #expect(!host.log.contains("(\(call))"), "\(call)")
    }
    let lines = host.log.split(separator: "\n").filter { $0.contains("which no target may") }
    #expect(lines.allSatisfy { $0.contains("pipeline=intruder") && $0.contains("level=warning") })
  }

  @Test func `is told of file by file too, and which it may only read`() throws {
    let besieged = try Besieged()
    let host = besieged.host
    #expect(try besieged.report() == Besieged.nothing)
    host.stop()
    let (state, home) = (host.state, host.path)
    let unnamed = [
      "read \(state)", "read \(state)/pipelines/other/queue", "read \(state)/secrets/key",
      "read \(home)/pipelines.json", "write to \(home)/pipelines.json", "read \(home)", "read /etc/shadow", "read /",
      "make \(home)/evil", "write to \(home)", "remove \(home)/victim", "move \(home)/victim", "cut \(home)/victim",
    ]
    for attempt in unnamed {
      let line = "The target tried to \(attempt), which none of its settings names; it was denied."
      #expect(host.log.components(line) == 1, "\(attempt): \(host.log)")
    }
    #expect(host.log.components("The target tried to write to note, which it may only read") == 0)
    #expect(host.log.components("note, which it may only read; it was denied.") >= 1, "\(host.log)")
    #expect(host.log.contains("make a symbolic link at \(home)/typed/link, which no target may"), "\(host.log)")
    #expect(host.log.contains("make a pipe, socket or device at \(home)/typed/pipe, which no target may"))
    let lines = host.log.split(separator: "\n").filter { $0.contains("which none of its settings names") }
    #expect(lines.allSatisfy { $0.contains("pipeline=intruder") && $0.contains("level=warning") })
  }

  @Test func `without pause waits for its answers, and others don't wait for it`() throws {
    let besieged = try Besieged(mode: "flood")
    let host = besieged.host
    try host.start()
    try host.submit("intruder", "x")
    #expect(eventually { host.log.contains("(setsid), which no target may") }, "\(host.log)")
    try host.submit("other", "fine", name: "fine.txt")
    #expect(eventually { host.text(of: "out/fine.txt") == "fine" })
    #expect(eventually(within: 60) { host.deliveriesOnDisk("intruder").count == 1 }, "\(host.log)")
    #expect(host.deliveriesOnDisk("intruder").first?["message"]?.string == Besieged.nothing)
    host.stop()
    #expect(host.log.components("(setsid), which no target may") == 1)
    #expect(host.log.contains("The target was denied setsid 260 times in all."), "\(host.log)")
  }

  @Test func `can't speak for its worker`() throws {
    let besieged = try Besieged(mode: "forge")
    #expect(try besieged.report().contains("broke the protocol"))
    #expect(besieged.host.deliveriesOnDisk("intruder").first?["verdict"]?.string == "none")
  }

  @Test func `and tries nothing isn't told of`() throws {
    let besieged = try Besieged(mode: "needs")
    #expect(try besieged.report() == Besieged.nothing)
    #expect(!besieged.host.log.contains("denied"), "\(besieged.host.log)")
  }

  @Test(arguments: 1...7)
  func `reaches nothing at any level of Landlock`(level: Int) throws {
    let besieged = try Besieged(program: SurroundedProgram.lacking(landlock: level, seccomp: true))
    let report = try besieged.report()
    if level >= 3 {
      #expect(report == Besieged.nothing)
    } else {
      // What these levels can't allow: cutting by path, and before level 2 moves between folders.
      #expect(!report.contains("REACHED") && report.contains("FAILS cut by path"), "\(report)")
      #expect(report.contains("FAILS move between folders") == (level < 2), "\(report)")
    }
    #expect(try besieged.isUnharmed)
    // Somebody listens there already: who makes the kernel seem older. So all is denied without a word.
    #expect(!besieged.host.log.contains("which no target may"))
    #expect(try besieged.host.run("status", "--json").json?["confinement"]?["landlock"]?.integer == Int64(level))
  }

  @Test func `with calls of another architecture is ended, and that is all`() throws {
    #if arch(x86_64)
      let besieged = try Besieged(mode: "foreign-call")
      #expect(try besieged.report().contains("SIGSYS"))
      #expect(besieged.host.deliveriesOnDisk("intruder").first?["verdict"]?.string == "none")
      #expect(besieged.host.queue("intruder").count == 1)
    #endif
  }
}

@Suite struct `A kernel that can't confine` {
  @Test(arguments: [(0, true), (7, false), (0, false)])
  func `runs no target of others unless told to`(landlock: Int, seccomp: Bool) throws {
    let program = try SurroundedProgram.lacking(landlock: landlock, seccomp: seccomp)
    let besieged = try Besieged(program: program, mode: "gentle")
    let host = besieged.host
    try host.start()
    try host.submit("intruder", "x")
    #expect(try host.reaches("intruder", "needs-attention"))
    let message = try host.status("intruder")["attention"]?["message"]?.string ?? ""
    #expect(message.contains("Landlock is missing") == (landlock == 0), "\(message)")
    #expect(message.contains("seccomp filters are missing") == !seccomp, "\(message)")
    #expect(message.contains("\"confinement\": \"best-effort\""), "\(message)")
    #expect(host.deliveriesOnDisk("intruder").isEmpty && host.queue("intruder").count == 1)
    #expect(host.log.components("this kernel can't confine targets fully") >= 1)
    // The person decides: the same file goes.
    let text = host.text(of: "pipelines.json")
    try host.write("pipelines.json", "{\"confinement\": \"best-effort\", " + text.dropFirst())
    #expect(try host.run("reload").status == 0)
    #expect(eventually(within: 30) { host.deliveriesOnDisk("intruder").count == 1 }, "\(host.log)")
    let report = host.deliveriesOnDisk("intruder").first?["message"]?.string ?? ""
    #expect(report.contains("REACHED state folder") == (landlock == 0), "\(report)")
    #expect(report.contains("REACHED /etc/passwd") == (landlock == 0), "\(report)")
    for call in ["unix socket", "fork", "times outside"] {
      #expect(report.contains("REACHED \(call)") == !seccomp, "\(call): \(report)")
    }
    // Whoever gets as far as the control socket is known there.
    #expect(!report.contains("answer of the control socket"), "\(report)")
    #expect(seccomp || host.log.contains("A connection to the control socket was refused"))
    let status = try host.run("status")
    #expect(status.output.contains("Confinement: this kernel can't confine targets fully"))
    let lacking = try host.run("status", "--json").json?["confinement"]?["lacking"]?.array?.compactMap(\.string)
    #expect(lacking == (landlock == 0 ? ["files"] : []) + (seccomp ? [] : ["calls"]))
  }

  @Test func `runs no target at all where confinement is required, and says so everywhere`() throws {
    let host = try Installation(program: SurroundedProgram.lacking(landlock: 0, seccomp: true))
    try host.configure(Installation.filing("files"), top: "\"confinement\": \"required\"")
    try host.start()
    try host.submit("files", "x")
    // The target is asked what it is, and that it may not be either: it isn't there.
    #expect(try host.reaches("files", "needs-attention"))
    let attention = try host.status("files")["attention"]
    #expect(attention?["message"]?.string?.contains("Landlock is missing") == true, "\(String(describing: attention))")
    #expect(host.names(in: "out").isEmpty)
    let check = try host.run("check")
    #expect(check.problems.contains("Landlock is missing"), "\(check)")
  }

  @Test(.enabled(if: geteuid() == 0, "root alone must be told otherwise"))
  func `runs the program's own targets as root only when told to`() throws {
    let host = try Installation(program: SurroundedProgram.lacking(landlock: 0, seccomp: true))
    try host.configure(Installation.filing("files"), top: "\"confinement\": \"best-effort\"")
    try host.start()
    try host.submit("files", "x")
    #expect(eventually { host.text(of: "out/file.txt") == "x" })
    #expect(host.log.components("this kernel can't confine targets fully") == 1)
    try host.configure(Installation.filing("files"))
    #expect(try host.run("reload").status == 0)
    try host.submit("files", "y", name: "later.txt")
    #expect(try host.reaches("files", "needs-attention"))
    let attention = try host.status("files")["attention"]
    #expect(attention?["code"]?.string == "delivery.unconfined")
    #expect(attention?["message"]?.string?.contains("as root") == true)
    #expect(try host.run("status").status == 4)
  }
}

@Suite struct `What a target is let into` {
  @Test func `follows the path that was typed, not the folder that once was there`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    try host.submit("files", "one", name: "1.txt")
    #expect(eventually { host.text(of: "out/1.txt") == "one" })
    // Another folder of the same name, while the worker that was let into the first one is still there.
    let workers = ProcessTable.workers(of: host.pid)
    #expect(workers.count == 1)
    try host.shell("mv out away; mkdir out")
    try host.submit("files", "two", name: "2.txt")
    #expect(eventually { host.text(of: "out/2.txt") == "two" })
    #expect(host.deliveriesOnDisk("files").allSatisfy { $0["verdict"]?.string == "delivered" })
    #expect(ProcessTable.workers(of: host.pid) != workers)
  }

  @Test func `is never the state folder, though a link was turned there later`() throws {
    let besieged = try Besieged(mode: "gentle")
    let host = besieged.host
    try host.start()
    try host.shell("rm -r typed; ln -s relay-data typed")
    try host.submit("intruder", "x")
    #expect(eventually { host.deliveriesOnDisk("intruder").count == 1 })
    #expect(host.log.contains("leads into the state folder and isn't opened for the target"), "\(host.log)")
    let report = host.deliveriesOnDisk("intruder").first?["message"]?.string ?? ""
    #expect(report == Besieged.nothing, "\(report)")
  }

  @Test func `is told by check and status`() throws {
    let host = try Installation()
    let example = try FixtureTarget.compile(
      source: Repository.path("Examples/targets/c/append.c"), as: "append", ["_GNU_SOURCE"])
    try host.link(example, as: "libappend.so")
    try host.configure(
      Installation.filing("files"),
      Installation.fixture(
        "grown", target: "org.example.append", settings: "\"file\": \"own/grown.txt\"", delivery: "\"spacing\": \"0s\"")
    )
    try host.shell("mkdir own")
    let check = try host.run("check")
    #expect(check.status == 0, "\(check)")
    #expect(check.output.contains("files → folder: writes \(host.path)/out\n"), "\(check)")
    #expect(
      check.output.contains("replaces \(host.path)/own/grown.txt, for which it may write in \(host.path)/own\n"),
      "\(check)")
    #expect(check.output.contains("everything else is denied (Landlock "), "\(check)")
    try host.start()
    try host.submit("grown", "one")
    #expect(eventually { host.text(of: "own/grown.txt") == "one" }, "\(host.log)")
    let access = try host.status("grown")["access"]?.array?.first
    #expect(access?["opened"]?.string == host.path + "/own" && access?["mode"]?.string == "replace")
    // Beside the configuration the folder would hold more than the file.
    try host.configure(
      Installation.fixture("grown", target: "org.example.append", settings: "\"file\": \"grown.txt\"", delivery: ""))
    let refused = try host.run("check")
    #expect(refused.status == 2)
    #expect(refused.problems.contains("[config.protected-path]") && refused.problems.contains("folder of its own"))
  }

  @Test func `holds the machine's authorities, and those that were typed`() throws {
    let folder = TemporaryFolder.shared.path("authorities-\(Identifier.random())")
    #expect(mkdir(folder, 0o755) == 0)
    #expect(
      try Command.run(["sh", Repository.path("Tests/Fixtures/servers/make_certificates.sh"), folder]).status == 0)
    let record = folder + "/record"
    let peer = try Child([
      "python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), record, folder + "/good.pem",
      folder + "/good.key",
    ])
    let port = peer.line()
    let host = try Installation()
    let pipeline = { (id: String, settings: String) in
      """
      {"id": "\(id)", "extract": {"from": "inbox"},
       "load": {"target": "http", "settings": {"url": "https://localhost:\(port)/status/200"\(settings)}}}
      """
    }
    try host.configure(pipeline("ours", ", \"tls\": {\"ca\": \"\(folder)/ca.pem\"}"), pipeline("machine", ""))
    try host.start()
    for id in ["ours", "machine"] {
      try host.submit(id, "x")
      #expect(eventually { host.deliveriesOnDisk(id).count == 1 })
    }
    #expect(host.deliveriesOnDisk("ours").first?["verdict"]?.string == "delivered", "\(host.log)")
    // The machine's list was read: it just doesn't hold the test's own authority.
    let message = host.deliveriesOnDisk("machine").first?["message"]?.string ?? ""
    #expect(message.contains("self-signed certificate") || message.contains("unable to get local issuer"), "\(message)")
  }
}

extension String {
  /// How often a text is in this one.
  fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
