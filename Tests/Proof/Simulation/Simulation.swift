// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayOracle
import RelayQueue
import RelaySystem

/// The process ends here, in the middle of something.
struct HostDied: Error {}

/// A whole small world from one seed: machines, the disk under them, clocks, workers, receivers and people.
final class Simulation {
  let seed: UInt64
  var chance: SeededChance
  let character: Character
  let isTracing: Bool

  /// The world's own clock, in milliseconds; nobody steps it.
  var now: Int64 = 10_000_000
  /// When the machine was switched on.
  var switchedOn: Int64 = 0
  /// How far the wall clock is from the world's own.
  var wallOffset: Int64 = 1_800_000_000_000
  var pipelines: [SimulatedPipeline] = []
  var places: WorkerPlaces
  var isUp = false
  var isStopping = false
  var stopDeadline: Int64?
  /// What other threads have handed to the event loop.
  var posted: [(pipeline: Int, item: Posted)] = []
  var commits: [Commit] = []
  var submissions: [Submission] = []
  /// How many more steps on the disk the process lives; nil for as many as it likes.
  var fuse: Int?
  /// Faults are over: now everything must come right by itself.
  var isQuiet = false

  var eventCount = 0
  var crashCount = 0
  var deliveryCount = 0
  var artifactCount = 0
  var violations: [String] = []
  var oracle = Oracle()
  /// Pipelines whose marks were damaged, or whose commits were announced out of order: there order and the number of
  /// repeats aren't owed.
  var excused: Set<Int> = []
  var history: [String] = []

  /// Something that the committer syncs.
  enum Commit {
    case mark(pipeline: Int, slot: Int, record: MarkRecord)
    /// The record that was found, written again in place before another follows.
    case confirmation(pipeline: Int, then: MarkRecord)
    case publication(pipeline: Int, artifact: SimulatedArtifact)
  }

  /// A commit that has ended and whose submitter hasn't got round to saying so.
  struct Submission {
    var pipeline: Int
    var artifact: SimulatedArtifact
    var sequence: UInt64
    var isDurable: Bool
  }

  init(seed: UInt64, isTracing: Bool) {
    self.seed = seed
    self.isTracing = isTracing
    chance = SeededChance(seed: seed)
    character = Character(&chance)
    places = WorkerPlaces(limit: character.places)
    for index in 0..<character.pipelines {
      let rules = DeliveryRules(
        spacing: chance.happens(800) ? 1000 : 0, onUnsure: character.holdsUnsure ? .hold : .retry,
        isIdempotent: character.isIdempotent)
      pipelines.append(SimulatedPipeline(index: index, rules: rules))
    }
  }

  var boot: BootTime { BootTime(nanoseconds: (now - switchedOn) * 1_000_000) }
  var wall: WallTime { WallTime(milliseconds: now + wallOffset) }

  func trace(_ text: @autoclosure () -> String) {
    if isTracing { history.append("\(now) \(text())") }
  }

  func violated(_ pipeline: SimulatedPipeline, _ text: String) {
    trace("\(pipeline.id) VIOLATION \(text)")
    if violations.count < 10 { violations.append("\(pipeline.id): \(text)") }
  }

  /// Runs the world for a number of steps, then lets the faults end and looks whether all comes right.
  func run(steps: Int) {
    if character.announcesOutOfOrder { excused.formUnion(pipelines.indices) }
    startHost()
    for pipeline in pipelines {
      for _ in 0..<character.firstArtifacts { submit(pipeline) }
    }
    for _ in 0..<(character.removalsFail ? steps * 6 : steps) where violations.isEmpty { survive { try self.step() } }
    if violations.isEmpty { settle() }
    if violations.isEmpty { consultOracle() }
  }

  private func consultOracle() {
    for pipeline in pipelines {
      for artifact in pipeline.artifacts {
        let isLeft = artifact.sequence.map(pipeline.leftByRecovery.contains) ?? false
        guard artifact.place == .refused || artifact.place == .corrupt || isLeft else { continue }
        oracle.note(.surfaced(pipeline: pipeline.index, artifact: artifact.number))
      }
    }
    for violation in oracle.verdict() {
      let isExcused = violation.promise == .inOrder || violation.promise == .fewRepeats
      if isExcused && !excused.isEmpty { continue }
      trace("ORACLE \(violation)")
      violations.append(violation.description)
    }
  }

  /// Something happened to a pipeline that explains one repeat.
  func broke(_ pipeline: SimulatedPipeline) { oracle.note(.broke(pipeline: pipeline.index)) }

  /// Does something that the host may not survive.
  func survive(_ body: () throws -> Void) {
    do { try body() } catch { crash() }
  }

  /// One thing happens.
  func step() throws {
    guard isUp else {
      if chance.happens(300) { startHost() } else { outside() }
      return
    }
    if character.crashes > 0, !isQuiet, chance.happens(character.crashes), fuse == nil { fuse = chance.below(8) }
    switch chance.below(100) {
    case 0..<30: if try runJob() || handlePosted() { return }
    case 30..<55: if try handlePosted() || runJob() { return }
    case 55..<68: if try runCommit() || runJob() { return }
    case 68..<84: if try progressFlight() || handlePosted() { return }
    case 84..<90: return passTime()
    default:
      outside()
      return
    }
    if try runCommit() || progressFlight() || handlePosted() || runJob() { return }
    passTime()
  }

  /// A step on the disk: the process may end before it.
  func breathe() throws {
    guard let left = fuse else { return }
    if left <= 0 {
      fuse = nil
      throw HostDied()
    }
    fuse = left - 1
  }

  /// Whether an operation on the disk fails now.
  func diskFails() -> Bool { !isQuiet && chance.happens(character.diskErrors) }

  func marksFail() -> Bool { diskFails() || (!isQuiet && chance.happens(character.markErrors)) }
}
