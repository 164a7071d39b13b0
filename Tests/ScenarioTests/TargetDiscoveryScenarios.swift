// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `Targets come and go while the daemon runs` {
  static let quick = "\"spacing\": \"0s\", \"retryFirst\": \"100ms\""

  static func gated(_ host: Installation) -> String {
    Installation.fixture(
      "mine", target: "org.example.gated", settings: "\"gate\": \"\(host.path)/gate\"", delivery: quick)
  }

  @Test func `a target copied in is used by a pipeline that is added later, without a restart`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    let pid = host.pid
    try host.shell("cp \(try FixtureTarget.compile("gated")) targets/libmine.so; touch gate")
    #expect(try eventually(within: 20) { try host.target(file: "libmine.so")?["state"]?.string == "ready" })
    try host.configure(Installation.filing("files"), Self.gated(host))
    #expect(try eventually { try host.run("status", "mine").status == 0 })
    try host.submit("mine", "hello")
    #expect(eventually { host.deliveriesOnDisk("mine").last?["message"]?.string == "version 1" })
    #expect(host.pid == pid && ProcessTable.exists(pid))
  }

  @Test func `a file that is still new when others take long to say what they are doesn't hold up the start`() throws {
    let host = try Installation()
    // In microseconds: longer than until the next look at a file that is still new.
    let slow = try FixtureTarget.compile("gated", ["DESCRIBING=700000"])
    try host.link(slow, as: "libslow.so")
    try host.configure(Installation.filing("files"))
    // Itself it is new no more.
    var status = stat()
    #expect(eventually { stat(slow, &status) == 0 && time(nil) - status.st_ctim.tv_sec > 2 })
    try host.shell("cp \(try FixtureTarget.compile("tattler")) targets/libnew.so")
    try host.launch()
    // The regular look comes after half a minute.
    #expect(eventually(within: 8) { host.log.contains("Relay Host is ready") })
    #expect(try host.target(file: "libnew.so")?["state"]?.string == "ready")
  }

  @Test func `a pipeline whose target isn't there needs attention, keeps its files and starts by itself when it comes`()
    throws
  {
    let host = try Installation()
    try host.configure(Self.gated(host), Installation.filing("files"))
    try host.start()
    try host.submit("mine", "hello")
    #expect(try host.reaches("mine", "needs-attention"))
    let words = try host.status("mine")["attention"]?["message"]?.string ?? ""
    #expect(words.contains("org.example.gated"))
    #expect(words.contains("targets folder"))
    try host.submit("files", "meanwhile", name: "other.txt")
    #expect(eventually { host.text(of: "out/other.txt") == "meanwhile" })
    #expect(host.queue("mine").count == 1)
    try host.shell("touch gate; cp \(try FixtureTarget.compile("gated")) targets/libmine.so")
    #expect(eventually(within: 20) { host.deliveriesOnDisk("mine").last?["verdict"]?.string == "delivered" })
    #expect(try host.reaches("mine", "idle"))
    #expect(host.queue("mine").isEmpty)
  }

  @Test func `a newer file copied over a target in use: what is under way ends with the old, the next uses the new`()
    throws
  {
    let host = try Installation()
    try host.shell("cp \(try FixtureTarget.compile("gated")) targets/libmine.so")
    try host.configure(Self.gated(host))
    try host.start()
    try host.submit("mine", "first")
    try host.submit("mine", "second")
    #expect(eventually { host.log.contains("at the gate") })
    try host.shell("cp \(try FixtureTarget.compile("gated", ["VERSION=\"2\""])) targets/libmine.so")
    #expect(try eventually(within: 20) { try host.target(file: "libmine.so")?["version"]?.string == "2" })
    #expect(host.deliveriesOnDisk("mine").isEmpty)
    try host.write("gate", "")
    #expect(eventually { host.deliveriesOnDisk("mine").count == 2 })
    #expect(host.deliveriesOnDisk("mine").map { $0["message"]?.string } == ["version 1", "version 2"])
    #expect(host.deliveriesOnDisk("mine").allSatisfy { $0["verdict"]?.string == "delivered" })
    #expect(host.deliveriesOnDisk("mine").allSatisfy { $0["attempt"]?.integer == 1 })
  }

  @Test func `a target that is removed leaves its pipeline waiting for a person, and back it goes on`() throws {
    let host = try Installation()
    let compiled = try FixtureTarget.compile("gated")
    try host.link(compiled, as: "libmine.so")
    try host.write("gate", "")
    try host.configure(Self.gated(host))
    try host.start()
    try host.submit("mine", "one")
    #expect(eventually { host.deliveriesOnDisk("mine").count == 1 })
    try host.folder.remove("targets/libmine.so")
    #expect(try host.reaches("mine", "needs-attention"))
    #expect(try host.target(file: "libmine.so") == nil)
    try host.submit("mine", "two")
    #expect(host.queue("mine").count == 1)
    try host.link(compiled, as: "libmine.so")
    #expect(eventually { host.deliveriesOnDisk("mine").count == 2 })
  }

  @Test func `a template in the settings is filled in even for what was handed over before the target was there`()
    throws
  {
    let host = try Installation()
    let pipeline = Installation.fixture(
      "mine", target: "org.example.gated",
      settings: "\"gate\": \"\(host.path)/gate\", \"note\": \"{{ file.stem }}, {{ part.index }} of {{ part.count }}\"",
      delivery: Self.quick)
    try host.configure(pipeline)
    try host.write("gate", "")
    try host.submit("mine", "before the daemon", name: "early.txt")
    try host.start()
    try host.submit("mine", "one", "two", name: "late.txt")
    try host.link(try FixtureTarget.compile("gated"), as: "libmine.so")
    try host.run("reload")
    #expect(eventually { host.deliveriesOnDisk("mine").count == 3 })
    let said = host.deliveriesOnDisk("mine").map { $0["message"]?.string ?? "" }
    #expect(said == ["version 1 early, 1 of 1", "version 1 1-late, 1 of 2", "version 1 2-late, 2 of 2"])
  }

  @Test func `a target that hangs while it describes itself holds up no start and no command`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile", ["HANG_IN_DESCRIBE"]), as: "libhang.so")
    try host.configure(Installation.filing("files"))
    // Each waits three seconds for it; the target itself would take ten.
    let start = monotonicSeconds()
    try host.submit("files", "hello", name: "letter.txt")
    let submitted = monotonicSeconds()
    #expect(submitted - start < 9)
    try host.launch()
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
    #expect(monotonicSeconds() - submitted < 9)
  }

  struct Broken: Sendable {
    var file: String
    var words: String
  }

  /// Each with what its reason has to say.
  static let broken = [
    Broken(file: "libtext.so", words: "no ELF header"), Broken(file: "libmachine.so", words: "another machine"),
    Broken(file: "libpart.so", words: "not whole"), Broken(file: "libempty.so", words: "no ELF header"),
    Broken(file: "libdeliver.so", words: "relay_target_deliver"),
    Broken(file: "libsymbol.so", words: "nobody_defines_this"), Broken(file: "libabi.so", words: "ABI"),
    Broken(file: "libconstructor.so", words: "SIGABRT"), Broken(file: "libdescribe.so", words: "SIGABRT"),
    Broken(file: "libhang.so", words: "10 s"), Broken(file: "libmanifest.so", words: "manifest"),
    Broken(file: "libnothing.so", words: "manifest"), Broken(file: "libtaken.so", words: "already taken by"),
  ]

  @Test func `a broken target is listed with its reason, costs nobody else anything and is taken up when mended`()
    throws
  {
    let host = try Installation()
    let good = try FixtureTarget.compile("gated")
    let hostile = { (define: String) in try FixtureTarget.compile("hostile", [define]) }
    try host.link(good, as: "libgood.so")
    try host.configure(
      Self.gated(host), Installation.fixture("waits", settings: "\"mode\": \"ok\"", delivery: Self.quick))
    try host.start()
    try host.submit("waits", "kept")
    try host.shell(
      """
      cd targets
      echo 'this is no program' > libtext.so
      cp \(good) libmachine.so && printf '\\xb7' | dd of=libmachine.so bs=1 seek=18 conv=notrunc status=none
      head -c $(( $(stat -c %s \(good)) / 2 )) \(good) > libpart.so
      : > libempty.so
      cp \(try hostile("NO_DELIVER")) libdeliver.so
      cp \(try hostile("UNDEFINED_SYMBOL")) libsymbol.so
      cp \(try hostile("ABI_MAJOR=9")) libabi.so
      cp \(try hostile("CRASH_IN_CONSTRUCTOR")) libconstructor.so
      cp \(try hostile("CRASH_IN_ABI")) libdescribe.so
      cp \(try hostile("HANG_IN_DESCRIBE")) libhang.so
      cp \(try hostile("BAD_MANIFEST")) libmanifest.so
      cp \(try hostile("NO_MANIFEST")) libnothing.so
      cp \(good) libtaken.so
      """)
    // While one of them hangs, others deliver.
    try host.write("gate", "")
    try host.submit("mine", "unhurt")
    #expect(eventually(within: 5) { host.deliveriesOnDisk("mine").count == 1 })
    for broken in Self.broken {
      let isListed = try eventually(within: 30) {
        try host.target(file: broken.file)?["reason"]?.string?.contains(broken.words) == true
      }
      let listed = try host.target(file: broken.file)
      #expect(isListed, "\(broken.file): \(listed?.text(.compact) ?? "not listed")")
      #expect(listed?["state"]?.string == "broken")
    }
    #expect(try host.target(file: "libgood.so")?["state"]?.string == "ready")
    #expect(try host.status("waits")["state"]?.string == "needs-attention")
    #expect(host.queue("waits").count == 1)
    #expect(try host.run("targets").output.contains("no ELF header"))
    try host.shell("cp \(try FixtureTarget.compile("hostile")) targets/libtext.so")
    #expect(eventually(within: 20) { host.deliveriesOnDisk("waits").count == 1 })
    #expect(eventually { ProcessTable.children(of: host.pid).allSatisfy { $0.state != "Z" } })
  }

  @Test func `a file in the targets folder that never stops changing keeps no daemon from its work`() throws {
    let host = try Installation()
    try host.shell("cp \(try FixtureTarget.compile("gated")) targets/libbusy.so")
    try host.configure(Installation.filing("files"))
    try host.shell(
      "touch busy; (while [ -e busy ]; do touch targets/libbusy.so; sleep 0.2; done) >/dev/null 2>&1 &")
    defer { try? host.folder.remove("busy") }
    try host.start()
    try host.submit("files", "hello", name: "letter.txt")
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
    try host.folder.remove("busy")
    #expect(try eventually(within: 20) { try host.target(file: "libbusy.so")?["state"]?.string == "ready" })
  }

  @Test func `a file written again and again beside the configuration doesn't delay its reload`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    try host.configure(Installation.filing("files"), Installation.filing("more"))
    var isThere = false
    let deadline = monotonicSeconds() + 5
    while !isThere && monotonicSeconds() < deadline {
      try host.write("busy", "x")
      isThere = host.names(in: "relay-data/pipelines").contains("more")
    }
    #expect(isThere)
  }
}
