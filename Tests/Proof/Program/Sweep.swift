// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayOracle
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization

/// Plays each scenario once for each of its calls and each effect, and judges what is left.
struct Sweep: Sendable {
  var program: String
  /// How many points of a scenario and effect are tried, spread evenly; nil is all.
  var sample: Int?
  /// Whether the power of the disk is cut, instead of all else.
  var cutsPower = false
  /// Installations at a time; most of a run is waiting.
  var lanes = 3
  /// Only this effect, only this point.
  var onlyEffect: String?
  var onlyPoint: UInt64?

  struct Row: Sendable {
    var scenario: String
    var points: UInt64 = 0
    var tried = 0
    var struck = 0
    var findings: [String] = []
  }

  private struct Task: Sendable {
    var effect: FaultControl.Effect
    var point: UInt64
    var second: UInt64?
  }

  func run(_ scenario: SweepScenario) throws -> Row {
    var row = Row(scenario: scenario.name)
    let wanted: [FaultControl.Effect] = cutsPower ? [.powerCut] : scenario.breaksTwice ? [.kill] : scenario.effects
    let effects = wanted.filter { "\($0)" == onlyEffect ?? "\($0)" }
    row.points = try countPoints(scenario, scenario.kinds)
    let transfers = effects.contains(.short) ? try countPoints(scenario, scenario.kinds.union(.transfer)) : 0
    let tasks = effects.flatMap { self.tasks(scenario, $0, points: $0 == .short ? transfers : row.points) }
    let next = Mutex(0)
    let result = Mutex(row)
    let problem = Mutex<(any Error)?>(nil)
    let ended = Reply<Void>()
    let running = Mutex(lanes)
    for lane in 0..<lanes {
      try startThread("lane-\(lane)") {
        do {
          let stage = try Stage(program: program, workersObey: scenario.strikesWorkers, hasDisk: cutsPower)
          while problem.withLock({ $0 == nil }) {
            let place = next.withLock { place in
              defer { place += 1 }
              return place
            }
            guard place < tasks.count else { break }
            let (struck, findings) = try play(scenario, tasks[place], on: stage)
            result.withLock { row in
              row.tried += 1
              row.struck += struck ? 1 : 0
              row.findings += findings
            }
          }
        } catch {
          problem.withLock { $0 = error }
        }
        let isLast = running.withLock { count in
          count -= 1
          return count == 0
        }
        if isLast { ended.set(()) }
      }
    }
    ended.wait()
    if let problem = problem.withLock({ $0 }) { throw problem }
    return result.withLock { $0 }
  }

  /// Threads take turns differently each time, so the largest of some runs counts.
  private func countPoints(_ scenario: SweepScenario, _ kinds: FaultControl.Kinds) throws -> UInt64 {
    let stage = try Stage(program: program, workersObey: scenario.strikesWorkers, hasDisk: cutsPower)
    var points: UInt64 = 0
    for _ in 0..<3 {
      try stage.reset(isCold: scenario.isCold)
      try scenario.prepare(stage)
      try scenario.act(stage) { stage.faults.count(kinds) }
      points = max(points, stage.faults.counted)
      stage.host.killHard()
    }
    guard points > 0 else { throw ScenarioProblem("\(scenario.name): no call was counted") }
    return points
  }

  private func tasks(_ scenario: SweepScenario, _ effect: FaultControl.Effect, points: UInt64) -> [Task] {
    // A few more than were counted, for runs that take more calls.
    let all = onlyPoint.map { [$0] } ?? Array(1...(points + 3))
    let chosen = sample.map { spread(all, over: $0) } ?? all
    guard scenario.breaksTwice else { return chosen.map { Task(effect: effect, point: $0) } }
    let seconds = spread(Array(1...points), over: sample == nil ? 6 : 3)
    return chosen.flatMap { point in seconds.map { Task(effect: effect, point: point, second: $0) } }
  }

  private func spread(_ all: [UInt64], over count: Int) -> [UInt64] {
    guard count > 0, all.count > count else { return all }
    return (0..<count).map { all[$0 * all.count / count + Int.random(in: 0..<all.count / count)] }
  }

  /// One run: broken at one point, then undisturbed, then judged.
  private func play(_ scenario: SweepScenario, _ task: Task, on stage: Stage) throws -> (
    struck: Bool, findings: [String]
  ) {
    try stage.reset(isCold: scenario.isCold)
    try scenario.prepare(stage)
    // Only what moves bytes can be short.
    let kinds = task.effect == .short ? scenario.kinds.union(.transfer) : scenario.kinds
    var findings: [String] = []
    do { try scenario.act(stage) { stage.faults.strike(task.effect, at: task.point, times: 1, kinds) } } catch {
      // What the scenario demands of an undisturbed program was refused.
      findings.append("\(error)")
    }
    let isStruck = stage.faults.struck > 0
    let trace = stage.faults.trace
    let place = trace.indices.contains(Int(task.point) - 1) ? "\(trace[Int(task.point) - 1])" : "?"
    if let second = task.second {
      stage.host.killHard()
      try scenario.act(stage) { stage.faults.strike(.kill, at: second, times: 1, scenario.kinds) }
    }
    stage.faults.stopStriking()
    // Each strike, and the end of what was still under way, explains one repeat.
    let breaks = (isStruck ? 1 : 0) + (task.second == nil ? 0 : 1) + (stage.isDrained ? 0 : 1)
    for pipeline in 0..<4 { for _ in 0..<breaks { stage.note(.broke(pipeline: pipeline)) } }
    stage.host.killHard()
    if isStruck { try stage.restartDisk() }
    findings += try afterwards(scenario, stage)
    findings += try scenario.demands(stage)
    stage.host.killHard()
    try stage.noteSetAside()
    try stage.noteReceived()
    findings += stage.judge().map(\.description)
    let name =
      "\(scenario.name), \(task.effect) at \(task.point) (\(place))" + (task.second.map { ", then at \($0)" } ?? "")
    if !findings.isEmpty { keep(stage, name) }
    return (isStruck, findings.map { "\(name): \($0)" })
  }

  /// An undisturbed daemon takes over: all that is owed leaves, a fresh artifact too, and nothing half is left behind.
  private func afterwards(_ scenario: SweepScenario, _ stage: Stage) throws -> [String] {
    try stage.host.start()
    try scenario.mend(stage)
    var findings: [String] = []
    let hasProbe = try stage.submit(0, parts: 1)
    if !hasProbe { findings.append("a new artifact was not accepted afterwards: \(stage.refusal ?? "")") }
    if !stage.waits(15, until: { stage.isDrained }) || !ProcessTable.runs(stage.host.pid) {
      findings.append("not everything left: \(stage.leftovers)")
    }
    return findings
  }

  private func keep(_ stage: Stage, _ name: String) {
    say("—— \(name): log\n\(stage.host.log.split(separator: "\n").suffix(30).joined(separator: "\n"))")
  }
}

extension Stage {
  /// How many artifacts and traces lie in the queues.
  var waiting: Int { queues.map { host.names(in: "relay-data/pipelines/\($0)/queue").count }.reduce(0, +) }

  /// What lies in the queues, for people.
  var leftovers: String {
    queues.flatMap { id in host.names(in: "relay-data/pipelines/\(id)/queue").map { "\(id)/queue/\($0)" } }
      .joined(separator: " ")
  }
}
