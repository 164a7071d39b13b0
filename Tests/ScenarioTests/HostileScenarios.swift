// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Targets that crash, hang, lie, flood and break rules, all at once in one daemon.
@Suite struct `Whatever a target does, the host lives` {
  struct Crime: Sendable {
    var mode: String
    var verdict: String
    /// What the message of the delivery has to hold.
    var words: String
    var settings: String
    var timeout: String

    init(_ mode: String, _ verdict: String, _ words: String = "", settings: String = "", timeout: String = "60s") {
      self.mode = mode
      self.verdict = verdict
      self.words = words
      self.settings = settings
      self.timeout = timeout
    }

    var pipeline: String { "p" + mode.replacing("_", with: "u") }
    var isDelivered: Bool { verdict == "delivered" }
  }

  static let crimes: [Crime] = [
    // It ends, or the line to it does: no verdict.
    Crime("segv", "none", "crashed (SIGSEGV)"), Crime("abort", "none", "crashed (SIGABRT)"),
    Crime("ill", "none", "crashed (SIGILL)"), Crime("exit0", "none", "exited with 0"),
    Crime("_exit0", "none", "exited with 0"), Crime("exit-thread", "none", "exited with 0"),
    Crime("state-then-crash", "none", "crashed (SIGABRT)"), Crime("open-crash", "none", "crashed (SIGABRT)"),
    Crime("open-exit", "none", "exited with 0"), Crime("close-line", "none", "without a verdict"),
    Crime("garbage-line", "none", "broke the protocol"),
    // It says nothing.
    Crime("hang", "none", "Nothing has moved for", timeout: "1s"),
    Crime("ignore-term", "none", "It didn't stop when asked", timeout: "1s"),
    Crime("hang-cancel", "retry", "(delivery.timeout). The target says: it waited in vain.", timeout: "1s"),
    Crime("hang-unsure", "retry", "Nothing has moved for", timeout: "1s"),
    // Only a complete frame counts, and the first one.
    Crime("forged-result", "delivered", settings: "\"request\": 1"),
    Crime("result-then-crash", "delivered", settings: "\"request\": 1"),
    Crime("half-result", "none", "crashed (SIGABRT)", settings: "\"request\": 1"),
    // What it reports is nonsense.
    Crime("verdict-0", "none", "verdict 0"), Crime("verdict-99", "none", "verdict 99"),
    Crime("verdict-minus-1", "none", "verdict -1"), Crime("return-1", "none", "returned 1"),
    Crime("size-small", "none"), Crime("size-large", "delivered"), Crime("retry-after-huge", "retry"),
    Crime("open-delivered", "none", "while opening"),
    Crime("open-attention", "needs-attention", "the settings can't work"),
    // A nuisance that costs nobody anything.
    Crime("print-no-newline", "delivered"), Crime("flood-progress", "delivered"), Crime("flood-log", "delivered"),
    Crime("fork-child", "delivered"), Crime("double-fork", "delivered"), Crime("threads", "delivered"),
    Crime("thread-left", "delivered"), Crime("bad-message", "delivered", "red"), Crime("state-large", "delivered"),
    Crime("process-state", "delivered"), Crime("close-part", "delivered"), Crime("unread", "delivered"),
    Crime("insist", "delivered"), Crime("read-past", "delivered"), Crime("rewind", "delivered"),
    Crime("atexit-crash", "delivered"), Crime("close-print", "delivered"), Crime("close-crash", "delivered"),
    Crime("ok", "delivered"),
  ]

  static func text(_ crime: Crime) -> String {
    let settings = "\"mode\": \"\(crime.mode)\"" + (crime.settings.isEmpty ? "" : ", " + crime.settings)
    return Installation.fixture(
      crime.pipeline, settings: settings,
      delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\", \"timeout\": \"\(crime.timeout)\"")
  }

  @Test func `every crime gets its verdict, keeps what it had and hinders nobody`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    let texts = Self.crimes.map(Self.text) + [Installation.filing("good")]
    try host.write(
      "pipelines.json", "{\"targets\": [\"targets\"], \"pipelines\": [\(texts.joined(separator: ",\n"))]}\n")
    try host.start()
    try host.write("part.txt", "some bytes")
    let before = ProcessTable.residentBytes(host.pid)
    let ids = Self.crimes.map(\.pipeline).joined(separator: " ")
    let handed = try host.shell("for id in \(ids); do relay submit $id part.txt || exit 1; done")
    #expect(handed.status == 0, "\(handed)")
    // Two of them hang for another while.
    try host.submit("good", "fine", name: "good.txt")
    #expect(eventually(within: 5) { host.text(of: "out/good.txt") == "fine" })
    #expect(eventually(within: 40) { Self.crimes.allSatisfy { !host.deliveriesOnDisk($0.pipeline).isEmpty } })
    for crime in Self.crimes { judge(crime, host) }
    #expect(Sanitizer.isOn || ProcessTable.residentBytes(host.pid) - before < 30 << 20)
    #expect(eventually { ProcessTable.children(of: host.pid).allSatisfy { $0.state != "Z" } })
    let pid = host.pid
    let children = ProcessTable.children(of: pid).map(\.pid)
    #expect(host.stop() == .exited(0))
    #expect(!children.contains(where: ProcessTable.exists))
  }

  private func judge(_ crime: Crime, _ host: Installation) {
    let deliveries = host.deliveriesOnDisk(crime.pipeline)
    #expect(deliveries.count == 1, "\(crime.mode)")
    let message = deliveries.first?["message"]?.string ?? ""
    #expect(deliveries.first?["verdict"]?.string == crime.verdict, "\(crime.mode): \(message)")
    #expect(message.contains(crime.words) || crime.words.isEmpty, "\(crime.mode): \(message)")
    #expect(message.unicodeScalars.allSatisfy { $0.value >= 32 && !(0x7F..<0xA0).contains($0.value) }, "\(crime.mode)")
    #expect(eventually { host.queue(crime.pipeline).count == (crime.isDelivered ? 0 : 1) }, "\(crime.mode)")
    #expect(host.refused(crime.pipeline).isEmpty, "\(crime.mode)")
  }

  @Test func `a receiver's wish for a wait beyond all measure is a day`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    try host.configure(
      Installation.fixture(
        "late", settings: "\"mode\": \"retry-after-huge\"", delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1s\""))
    try host.start()
    try host.submit("late", "x")
    #expect(eventually { host.deliveriesOnDisk("late").count == 1 })
    let text = try host.status("late")["nextAttempt"]?.string ?? ""
    let next = try #require(try host.shell("date -d \(text) +%s").output.split(separator: "\n").first)
    let wait = try #require(Int64(next)) - WallTime.now.milliseconds / 1000
    #expect((86_000...86_401).contains(wait))
  }

  @Test(.enabled(if: !Sanitizer.isOn, "\(Sanitizer.memoryReason)"))
  func `a hundred megabytes of prints cost no memory and little of the log`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    try host.configure(
      Installation.fixture("loud", settings: "\"mode\": \"print-much\"", delivery: "\"spacing\": \"0s\""))
    try host.start()
    let before = ProcessTable.residentBytes(host.pid)
    var most = 0
    try host.submit("loud", "x")
    let isDelivered = eventually(within: 30) {
      most = max(most, ProcessTable.residentBytes(host.pid))
      return host.deliveriesOnDisk("loud").last?["verdict"]?.string == "delivered"
    }
    #expect(isDelivered)
    #expect(most - before < 8 << 20, "\(before) bytes before, \(most) at most")
    #expect(host.log.utf8.count < 200_000)
    #expect(eventually { host.log.contains("lines left out") } || host.stop() != nil && host.log.contains("left out"))
  }

  @Test(.enabled(if: !Sanitizer.isOn, "\(Sanitizer.memoryReason)"))
  func `one that takes all memory is ended and costs the host none`() throws {
    let host = try Installation()
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    try host.configure(
      Installation.fixture(
        "greedy", settings: "\"mode\": \"oom\"",
        delivery: "\"spacing\": \"0s\", \"retryFirst\": \"1h\", \"timeout\": \"60s\""))
    try host.start()
    let before = ProcessTable.residentBytes(host.pid)
    try host.submit("greedy", "x")
    #expect(eventually(within: 40) { host.deliveriesOnDisk("greedy").count == 1 })
    #expect(host.deliveriesOnDisk("greedy").first?["verdict"]?.string == "none")
    #expect(host.queue("greedy").count == 1)
    #expect(ProcessTable.residentBytes(host.pid) - before < 8 << 20)
  }
}
