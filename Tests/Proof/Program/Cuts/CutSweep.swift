// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import ScenarioSupport
import Synchronization

/// Cuts a target's conversation with its server at every byte, either way, and judges what came of it.
struct CutSweep: Sendable {
  var program: String
  /// How many points each way are tried, spread evenly; nil is all.
  var sample: Int?
  /// Daemons at a time, each with a server of its own; most of a run is waiting.
  var lanes = 3
  /// Only this point.
  var only: CutPoint?

  struct Row: Sendable {
    var up = 0
    var down = 0
    var silent = 0
    var runs = 0
    var cuts = 0
    var repeats = 0
    var findings: [String] = []
  }

  /// How often a line goes silent each way. That takes seconds, and what follows depends on the step, not on the byte.
  private static let silences = 4
  /// A target with so many violations isn't tried further.
  private static let enough = 8

  func run(_ target: CutTarget) throws -> Row {
    let first = try CutLine(target, program: program)
    let counted = try first.count()
    let points = only.map { [$0] } ?? points(up: counted.up, down: counted.down)
    let round = Round(points, up: counted.up, down: counted.down, enough: Self.enough)
    let lanes = max(1, min(self.lanes, points.count / 4))
    let running = Mutex(lanes)
    let ended = Reply<Void>()
    let given = Mutex<CutLine?>(first)
    for lane in 0..<lanes {
      try startThread("cut-\(lane)") {
        do {
          var line = try given.withLock { $0.take() } ?? CutLine(target, program: program)
          while let point = round.take() {
            let outcome = try line.play(point)
            try round.note(outcome, outcome.findings.map { "\(point): \($0)" }, line)
            if outcome.isStuck { line = try CutLine(target, program: program) }
          }
          try round.note(nil, line.end(), line)
        } catch {
          round.fail(error)
        }
        let isLast = running.withLock { count in
          count -= 1
          return count == 0
        }
        if isLast { ended.set(()) }
      }
    }
    ended.wait()
    return try round.row()
  }

  private func points(up: Int, down: Int) -> [CutPoint] {
    let silences = sample.map { min(max(1, $0 / 6), Self.silences) } ?? Self.silences
    return [(CutPoint.Way.up, up), (.down, down)].flatMap { way, bytes in
      spread(0...bytes, over: sample ?? bytes + 1).map { CutPoint(way: way, bytes: $0) }
        + spread(0...max(0, bytes - 1), over: silences).map { CutPoint(way: way, bytes: $0, isSilent: true) }
    }
  }

  /// So many of them, about evenly; where there are fewer, all.
  private func spread(_ all: ClosedRange<Int>, over count: Int) -> [Int] {
    guard all.count > count else { return Array(all) }
    guard count > 0 else { return [] }
    return (0..<count).map { all.lowerBound + $0 * all.count / count + .random(in: 0..<(all.count / count)) }
  }
}

/// The points of a target that are still to be tried, and what came of the others; for all lanes.
private final class Round: Sendable {
  private struct State {
    var row: CutSweep.Row
    var next = 0
    var problem: (any Error)?
  }

  private let points: [CutPoint]
  private let enough: Int
  private let state: Mutex<State>

  init(_ points: [CutPoint], up: Int, down: Int, enough: Int) {
    self.points = points
    self.enough = enough
    state = Mutex(State(row: CutSweep.Row(up: up + 1, down: down + 1, silent: points.count { $0.isSilent })))
  }

  /// The next point that somebody should try; nil when there is none, or no sense in going on.
  func take() -> CutPoint? {
    state.withLock { state in
      guard state.problem == nil, state.row.findings.count < enough, points.indices.contains(state.next) else {
        return nil
      }
      defer { state.next += 1 }
      return points[state.next]
    }
  }

  func note(_ outcome: CutLine.Outcome?, _ findings: [String], _ line: CutLine) throws {
    let place = findings.isEmpty ? "" : try line.keep(findings.joined(separator: "\n"))
    state.withLock { state in
      if let outcome {
        state.row.runs += 1
        state.row.cuts += outcome.cuts
        state.row.repeats += outcome.repeats
      }
      state.row.findings += findings.map { "\($0) (kept in \(place))" }
    }
  }

  func fail(_ error: any Error) { state.withLock { $0.problem = error } }

  func row() throws -> CutSweep.Row {
    let end = state.withLock { ($0.row, $0.problem) }
    if let problem = end.1 { throw problem }
    return end.0
  }
}
