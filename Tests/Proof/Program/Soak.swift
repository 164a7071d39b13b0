// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayOracle
import RelaySimulation
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization

/// Hands artifacts over without pause while everything around breaks, for as long as is wanted.
///
/// The time goes by in rounds. In every second one the daemon is killed, its calls fail and its clocks jump; in the others only
/// the receiver makes trouble, and memory, descriptors and load are looked at. At the end of each all faults stop, what is owed
/// must leave, and the oracle judges.
final class Soak {
  struct Sum: Sendable {
    var seconds = 0
    var rounds = 0
    var accepted = 0
    var delivered = 0
    var repeats = 0
    var hostKills = 0
    var workerKills = 0
    var callFaults: UInt64 = 0
    var clockJumps = 0
    var reloads = 0
    var inboxFiles = 0
    var violations: [Violation] = []
  }

  private let stage: Stage
  private var chance: SeededChance
  private let pipelines = 5
  /// Its deliveries are spaced; the others follow at once.
  private let spaced = 3
  /// Its files come through its inbox alone.
  private let dropped = 4
  private static let spacing = 150
  private(set) var sum = Sum()
  private let submitters = Mutex(0)
  private let inboxFiles = Mutex(0)
  /// Whether nobody reads the daemon's log in this round.
  private var isDeaf = false
  /// Of earlier rounds.
  private var callFaultsBefore: UInt64 = 0

  init(program: String, seed: UInt64) throws {
    stage = try Stage(program: program)
    chance = SeededChance(seed: seed)
  }

  func run(seconds: Int) throws {
    let start = monotonicSeconds()
    repeat {
      let left = start + Double(seconds) - monotonicSeconds()
      // Also a short soak has a round of each kind.
      try round(isBrutal: sum.rounds % 2 == 0, seconds: max(4, min(25, Double(seconds) / 4, left - 8)))
      sum.rounds += 1
      sum.seconds = Int(monotonicSeconds() - start)
      say(
        "round \(sum.rounds): \(sum.seconds) s, \(sum.accepted) accepted, \(sum.delivered) parts delivered, \(sum.repeats) repeats, "
          + "\(sum.hostKills) kills, \(sum.violations.count) violations")
    } while monotonicSeconds() - start < Double(seconds)
  }

  private func configure(extra: Bool) throws {
    var texts = (0..<pipelines).map { number in
      let spacing = number == spaced ? "\(Self.spacing)ms" : "0s"
      let encode = number == 1 ? ", \"encode\": \"gzip\"" : ""
      return stage.pipeline(
        number, settings: "\"headers\": {\"X-Round\": \"\(Int.random(in: 0...9, using: &chance))\"}",
        delivery: "\"spacing\": \"\(spacing)\", \"retryFirst\": \"20ms\", \"retryMax\": \"200ms\"\(encode)")
    }
    if extra { texts.append(stage.pipeline(9)) }
    try stage.host.configure(texts.joined(separator: ",\n"))
  }

  private func script(_ behaviour: String) throws {
    for number in 0..<pipelines { try stage.receiver.script("p\(number)", behaviour) }
  }

  private func breakAll() { for number in 0..<pipelines { stage.note(.broke(pipeline: number)) } }

  // MARK: A round

  private func round(isBrutal: Bool, seconds: Double) throws {
    try stage.reset()
    callFaultsBefore = sum.callFaults
    stage.faults.shiftWallClock(milliseconds: 0)
    stage.faults.shiftBootClock(milliseconds: 0)
    try script("/chaos/12")
    try configure(extra: false)
    // Now and then nobody reads the log, and nothing may wait for it.
    isDeaf = sum.rounds % 3 == 2
    try launch()
    guard try eventually(within: 60, { try stage.host.run("reload").status == 0 }) else {
      throw ScenarioProblem("the daemon didn't answer; its log: \(stage.host.log)")
    }
    var calm: HistoryEvent?
    if !isBrutal { calm = try idle() }
    let end = monotonicSeconds() + seconds
    for number in 0..<3 { try startSubmitter(number, pause: isBrutal ? 5_000 : 2_000, until: end) }
    try startDropper(until: end)
    while monotonicSeconds() < end {
      pause(milliseconds: Int.random(in: 100...900, using: &chance))
      if isBrutal { try breakSomething() } else { try meddle() }
      if !ProcessTable.runs(stage.host.pid) { try begunAgain() }
    }
    _ = eventually(within: 60) { submitters.withLock { $0 == 0 } }
    try settle(isBrutal: isBrutal)
    if let calm {
      stage.note(calm)
      try stage.note(idle())
      stage.note(.idleLoad(try idleLoad()))
    }
    stage.host.killHard()
    try stage.noteSetAside()
    try stage.noteReceived()
    if !isBrutal { try stage.noteTiming(spacedPipeline: spaced) }
    var terms = Oracle.Terms()
    terms.spacing = Self.spacing - 2
    // The first look is at a daemon without workers; each one takes some.
    terms.descriptors = 48
    // Two seconds are counted in ticks of ten milliseconds: a few of them say nothing.
    terms.idleLoad = 0.05
    // And a daemon that has just started has not used most of what it will.
    terms.residentBytes = 32 << 20
    let oracle = stage.oracle(terms)
    let violations = oracle.verdict()
    for violation in violations { say("  \(violation)") }
    if !violations.isEmpty { try keep() }
    sum.violations += violations
    sum.accepted += oracle.counts.acknowledged
    sum.delivered += oracle.counts.accepted
    sum.repeats += oracle.counts.repeats
  }

  /// The daemon has ended by itself: it may decline to start while its calls fail, but never crash.
  private func begunAgain() throws {
    let end = stage.host.ended(within: 1)
    // Those of the calls before the last that were made to fail count as well: it may have ended some moments ago.
    let struck = sum.callFaults &- callFaultsBefore &+ stage.faults.struck
    let isRefusal = if case .exited? = end { struck > 0 } else { false }
    if !isRefusal {
      say("  the daemon ended by itself: \(end?.words ?? "gone"); \(stage.host.log.suffix(2000))")
      sum.violations.append(Violation(.goesOn, "the daemon ended by itself"))
      try keep()
    }
    try launch()
  }

  /// All faults stop; everything that is owed leaves.
  private func settle(isBrutal: Bool) throws {
    stage.faults.stopStriking()
    sum.callFaults += stage.faults.struck
    try script("/status/201")
    if isBrutal {
      breakAll()
      stage.host.killHard()
      isDeaf = false
      stage.faults.shiftWallClock(milliseconds: 0)
      try configure(extra: false)
      try stage.host.start(environment: stage.faults.environment)
    }
    // For as long as something leaves: the spaced pipeline takes its time.
    let isDone = { [stage, dropped] in stage.isInboxEmpty(dropped) && stage.isDrained }
    var before = Int.max
    while !isDone(), stage.waiting < before {
      before = stage.waiting
      for number in 0..<pipelines { try stage.host.run("resume", "p\(number)") }
      _ = eventually(within: 60) { isDone() }
    }
    sum.inboxFiles = inboxFiles.withLock { $0 }
    if !isDone() { sum.violations.append(Violation(.goesOn, "not everything left: \(stage.leftovers)")) }
  }

  private func launch() throws {
    try stage.host.launch(environment: stage.faults.environment, isLogRead: !isDeaf)
  }

  /// Lays one file after the other into the inbox, each when the one before it has gone.
  ///
  /// What lies in an inbox is the program's to deliver from the moment it is there.
  private func startDropper(until end: Double) throws {
    submitters.withLock { $0 += 1 }
    let (stage, dropped) = (stage, dropped)
    nonisolated(unsafe) let me = self
    // Safe: what is touched from there is the locked values.
    try startThread("dropper") {
      defer { me.submitters.withLock { $0 -= 1 } }
      let inbox = "\(stage.host.state)/pipelines/p\(dropped)/inbox"
      while monotonicSeconds() < end {
        if stage.isInboxEmpty(dropped), let (artifact, words) = try? stage.prepare(dropped, parts: 1),
          let file = words.last, let name = file.split(separator: "/").last, rename(file, "\(inbox)/\(name)") == 0
        {
          stage.note(.acknowledged(pipeline: dropped, artifact: artifact))
          me.inboxFiles.withLock { $0 += 1 }
        }
        usleep(.random(in: 0...50_000))
      }
    }
  }

  /// Hands over one artifact after the other, on a thread of its own.
  private func startSubmitter(_ number: Int, pause microseconds: UInt32, until end: Double) throws {
    submitters.withLock { $0 += 1 }
    let (stage, spaced) = (stage, spaced)
    nonisolated(unsafe) let me = self
    // Safe: what is touched from there is the locked value.
    try startThread("submitter-\(number)") {
      defer { me.submitters.withLock { $0 -= 1 } }
      while monotonicSeconds() < end {
        // The spaced one takes its time.
        let pipeline = Int.random(in: 0..<12) == 0 ? spaced : .random(in: 0..<spaced)
        _ = try? stage.submit(
          pipeline, parts: .random(in: 1...3), bytes: [20, 300, 4096, 60_000].randomElement() ?? 20)
        // Waits for nothing: people and programs hand over at moments of their own.
        usleep(.random(in: 0...microseconds))
      }
    }
  }

  /// Waits for nothing: picks the moments at which things break, and the time over which idleness is measured.
  private func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

  /// Keeps what a violation can be understood from.
  private func keep() throws {
    let place = "/tmp/relay-soak-\(getpid())-round-\(sum.rounds)"
    _ = try Command.run(["cp", "-a", stage.host.path, place])
    _ = try Command.run(["cp", "-a", stage.receiver.record, place + "/receiver.ndjson"])
    say("  kept in \(place)")
  }
}

// MARK: What breaks

extension Soak {
  /// One of the things that happen to a machine, at random.
  private func breakSomething() throws {
    switch Int.random(in: 0..<12, using: &chance) {
    case 0, 1, 2:
      sum.hostKills += 1
      breakAll()
      stage.host.killHard()
      try launch()
    case 3:
      breakAll()
      stage.host.stop()
      try launch()
    case 4, 5:
      guard let worker = ProcessTable.workers(of: stage.host.pid).randomElement(using: &chance) else { return }
      sum.workerKills += 1
      breakAll()
      kill(worker, SIGKILL)
    case 6:
      let process = ([stage.host.pid] + ProcessTable.workers(of: stage.host.pid)).randomElement(using: &chance)
      guard let process, process > 0 else { return }
      kill(process, SIGSTOP)
      pause(milliseconds: Int.random(in: 50...800, using: &chance))
      kill(process, SIGCONT)
    case 7, 8: strikeCalls()
    case 9:
      sum.clockJumps += 1
      let days: Int64 = 86_400_000
      let now = Int64(time(nil)) * 1000
      stage.faults.shiftWallClock(
        milliseconds: [0, 3 * days, -3 * days, -now, 2_147_483_000_000 - now].randomElement(using: &chance) ?? 0)
    default: try meddle()
    }
  }

  /// Some calls in a row fail.
  private func strikeCalls() {
    sum.callFaults += stage.faults.struck
    let effects: [FaultControl.Effect] = [
      .fails(EIO), .fails(ENOSPC), .fails(EINTR), .fails(EMFILE), .short, .delay(milliseconds: 20),
    ]
    let kinds: [FaultControl.Kinds] = [.durable, .network, .read, .process]
    guard let effect = effects.randomElement(using: &chance), let kind = kinds.randomElement(using: &chance) else {
      return
    }
    // A verdict that the program couldn't read is an unclear end.
    if kind == .network || kind == .process { breakAll() }
    stage.faults.strike(
      effect, at: .random(in: 1...40, using: &chance), times: .random(in: 1...20, using: &chance), kind)
  }

  /// What people do.
  private func meddle() throws {
    let pipeline = "p\(Int.random(in: 0..<pipelines, using: &chance))"
    switch Int.random(in: 0..<6, using: &chance) {
    case 0:
      try stage.host.run("pause", pipeline)
      pause(milliseconds: 50)
      try stage.host.run("resume", pipeline)
    case 1: try stage.host.run("retry", pipeline)
    case 2, 3:
      sum.reloads += 1
      try configure(extra: Bool.random(using: &chance))
      try stage.host.run("reload")
    case 4: try stage.host.run("test", pipeline)
    default: try stage.host.run("status", "--json")
    }
  }
}

// MARK: What is looked at

extension Soak {
  /// What the daemon holds once its workers have nothing to do.
  private func idle() throws -> HistoryEvent {
    let pid = stage.host.pid
    return .idle(
      descriptors: ProcessTable.descriptors(pid), threads: ProcessTable.threads(pid),
      residentBytes: ProcessTable.residentBytes(pid))
  }

  /// The share of a processor over two seconds.
  private func idleLoad() throws -> Double {
    let before = ProcessTable.processorSeconds(stage.host.pid)
    pause(milliseconds: 2000)
    return (ProcessTable.processorSeconds(stage.host.pid) - before) / 2
  }
}
