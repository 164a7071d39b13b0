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
  private static let silences = 6
  /// A target with so many violations isn't tried further.
  private static let enough = 8

  func run(_ target: CutTarget) throws -> Row {
    let first = try CutLine(target, program: program)
    let counted = try first.count()
    let points = only.map { [$0] } ?? points(up: counted.up, down: counted.down)
    let rows = Mutex(
      Row(up: counted.up + 1, down: counted.down + 1, silent: points.count { $0.isSilent }))
    let next = Mutex(0)
    let problem = Mutex<(any Error)?>(nil)
    let lanes = max(1, min(self.lanes, points.count / 16))
    let running = Mutex(lanes)
    let ended = Reply<Void>()
    let given = Mutex<CutLine?>(first)
    for lane in 0..<lanes {
      try startThread("cut-\(lane)") {
        do {
          var line = try given.withLock { $0.take() } ?? CutLine(target, program: program)
          while let point = take(points, next, rows), problem.withLock({ $0 == nil }) {
            if try play(point, on: line, rows) { line = try CutLine(target, program: program) }
          }
          let findings = try line.end()
          if !findings.isEmpty { try note(findings, line, rows) }
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
    return rows.withLock { $0 }
  }

  /// The next point that somebody should try.
  private func take(_ points: [CutPoint], _ next: borrowing Mutex<Int>, _ rows: borrowing Mutex<Row>) -> CutPoint? {
    guard rows.withLock({ $0.findings.count < Self.enough }) else { return nil }
    return next.withLock { place in
      defer { place += 1 }
      return points.indices.contains(place) ? points[place] : nil
    }
  }

  /// Tries one point; whether the line is of no use any more.
  private func play(_ point: CutPoint, on line: CutLine, _ rows: borrowing Mutex<Row>) throws -> Bool {
    let outcome = try line.play(point)
    rows.withLock { row in
      row.runs += 1
      row.cuts += outcome.cuts
      row.repeats += outcome.repeats
    }
    if !outcome.findings.isEmpty { try note(outcome.findings.map { "\(point): \($0)" }, line, rows) }
    return outcome.isStuck
  }

  private func note(_ findings: [String], _ line: CutLine, _ rows: borrowing Mutex<Row>) throws {
    let place = try line.keep(findings.joined(separator: "\n"))
    rows.withLock { $0.findings += findings.map { "\($0) (kept in \(place))" } }
  }

  private func points(up: Int, down: Int) -> [CutPoint] {
    let silences = sample.map { min($0 / 2, Self.silences) } ?? Self.silences
    let all = [(CutPoint.Way.up, up), (.down, down)].flatMap { way, bytes in
      spread(0...bytes, over: sample ?? bytes + 1).map { CutPoint(way: way, bytes: $0) }
        + spread(0...max(0, bytes - 1), over: silences).map { CutPoint(way: way, bytes: $0, isSilent: true) }
    }
    return all
  }

  /// So many of them, about evenly; where there are fewer, all.
  private func spread(_ all: ClosedRange<Int>, over count: Int) -> [Int] {
    guard all.count > count else { return Array(all) }
    guard count > 0 else { return [] }
    return (0..<count).map { all.lowerBound + $0 * all.count / count + .random(in: 0..<(all.count / count)) }
  }
}
