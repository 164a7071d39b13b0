// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// Decides what happens next for one pipeline: a value that takes events and returns actions.
///
/// It touches no disk, no clock and no process: time and chance are handed in, and what it wants done it says. So all of
/// its promises can be tried by a test: one thing in flight, in order, nothing sent before what was accepted is durable,
/// no wait lost or stretched.
package struct DeliveryMachine: Sendable {
  /// The one thing the pipeline is doing.
  enum Activity: Equatable, Sendable {
    case loading
    case none
    case opening(UInt64)
    case sending(UInt64)
    case testing
    /// A mark is being written; `owed` when that failed and is to be tried again.
    case marking(owed: Bool)
    case moving(UInt64)
    /// A move that failed and is to be tried again.
    case moveOwed(DeliveryAction)
  }

  /// Where time and chance come from, for one event.
  package struct Moment: Sendable {
    package var boot: BootTime
    package var wall: WallTime
    /// From 0 to 1.
    package var chance: Double

    package init(boot: BootTime, wall: WallTime, chance: Double) {
      self.boot = boot
      self.wall = wall
      self.chance = chance
    }
  }

  package internal(set) var rules: DeliveryRules
  package internal(set) var queue = SequenceQueue()
  package internal(set) var position = MarkRecord()
  package internal(set) var attention: Attention?
  package internal(set) var targetProblem: String?
  /// What keeps the disk from being read or written just now, for people; nil when all is well.
  package internal(set) var diskProblem: String?
  package internal(set) var isPausedByCommand = false
  package internal(set) var isPausedByConfiguration = false
  var activity = Activity.loading
  var head: HeadArtifact?
  /// What is known of the head may not hold any more.
  var isToOpenAnew = false
  /// Nothing is sent before this moment.
  var notBefore = BootTime(nanoseconds: .min)
  /// The last delivery, from which the spacing counts; nil when none is near.
  var lastDelivery: BootTime?
  /// An artifact that couldn't be read isn't tried again before this moment; a wait for the receiver goes on beside it.
  var readAgain = BootTime(nanoseconds: .min)
  /// Whether the position is on the disk for certain. What was found at the start may only have been in memory, written
  /// by a process that was killed: before the next thing is sent it is written anew.
  var isPositionCertain = true
  var hasPlace = false
  var isAskingForPlace = false
  var isTestWanted = false
  package internal(set) var isCancelWanted = false
  var isStopping = false
  var toDrop: Set<UInt64> = []
  /// What people said before the disk was read.
  var early: [DeliveryEvent] = []
  /// What to remove once the mark that says so is on the disk.
  var removals: [UInt64] = []
  /// What can be removed; while one delivery follows the other, several share the sync that this takes.
  var removable: [UInt64] = []
  /// When they are removed at the latest.
  var removeBy = BootTime(nanoseconds: .min)
  /// What the target saved for the delivery that has ended goes once the mark is on the disk.
  var isStateToErase = false
  var lastNumber: UInt64 = 0
  var startFailures: UInt32 = 0
  var timer: BootTime?
  var actions: [DeliveryAction] = []

  /// How many removals may be outstanding before the pipeline waits for the disk.
  static let mostPendingRemovals = 32
  /// How many share a sync at most, and for how many milliseconds one waits for others.
  static let removedTogether = 16
  static let removalWait: Int64 = 500

  package init(rules: DeliveryRules) { self.rules = rules }

  /// Takes an event in and says what is to be done, in order.
  package mutating func handle(_ event: DeliveryEvent, at moment: Moment) -> [DeliveryAction] {
    actions = []
    apply(event, moment)
    advance(moment)
    removeDelivered(moment)
    return actions
  }

  private mutating func apply(_ event: DeliveryEvent, _ now: Moment) {
    switch event {
    case .loaded(let sequences, let position, let attention, let pausedByCommand):
      load(sequences, position, attention, pausedByCommand, now)
    case .committed(let sequence): committed(sequence)
    case .opened(let artifact): opened(artifact)
    case .damaged(let sequence, let reason): damaged(sequence, reason)
    case .unreadable(let sequence, let reason): unreadable(sequence, reason, now)
    case .placeGranted:
      isAskingForPlace = false
      hasPlace = true
    case .notStarted(let reason): notStarted(reason, now)
    case .handedBack: if case .sending = activity { endSending() }
    case .verdict(let number, let verdict): finished(number, verdict, now)
    case .marked: marked(now)
    case .markFailed(let reason):
      guard activity == .marking(owed: false) else { return }
      if Broken.promise(.syncTrust) { return marked(now) }
      activity = .marking(owed: true)
      diskProblem = reason
      setTimer(now.boot.advanced(milliseconds: DeliveryRules.markWait))
    case .movedAway(let sequence): movedAway(sequence, now)
    case .moveFailed(let sequence, let reason):
      guard activity == .moving(sequence) else { return }
      if Broken.promise(.moveDone) { return movedAway(sequence, now) }
      diskProblem = reason
      activity = .moveOwed(lastMove ?? .note(reason))
      setTimer(now.boot.advanced(milliseconds: DeliveryRules.markWait))
    case .stopped(let sequence, let code, let message):
      guard activity == .moving(sequence) else { return }
      activity = .none
      stop(code, message, now)
    case .removed(let sequences): position.pendingRemovals.removeAll { sequences.contains($0.sequence) }
    case .timer: timerFired()
    default: command(event, now)
    }
  }

  /// The move under way, so that one that failed can be tried again as it was.
  var lastMove: DeliveryAction?

  // MARK: What comes next

  /// Starts whatever is due. Everything is derived from the state, so no event can be forgotten.
  private mutating func advance(_ now: Moment) {
    guard activity == .none else { return }
    if isStopping && !Broken.promise(.stopHolds) { return releasePlace() }
    if isTestWanted && targetProblem == nil {
      isTestWanted = false
      activity = .testing
      // The place that was asked for, or is there, is used up by the test.
      hasPlace = false
      isAskingForPlace = false
      return actions.append(.sendTest)
    }
    if let sequence = toDrop.lazy.filter(queue.contains).min() {
      toDrop.remove(sequence)
      return move(
        .setAside(
          sequence: sequence, part: head?.sequence == sequence ? position.headPartsDone + 1 : 0,
          attempts: head?.sequence == sequence ? position.attempts : 0,
          DeliveryVerdict(.refused, message: "Set aside by a person.")), sequence)
    }
    guard let next = Broken.promise(.order) ? queue.all.last : queue.first, !isHeld else {
      setTimer(nil)
      return releasePlace()
    }
    guard head?.sequence == next, !isToOpenAnew else {
      if now.boot < readAgain { return setTimer(Broken.promise(.readWakeup) ? nil : readAgain) }
      isToOpenAnew = false
      activity = .opening(next)
      return actions.append(.open(sequence: next))
    }
    guard position.pendingRemovals.count < Self.mostPendingRemovals || Broken.promise(.removalsBounded) else { return }
    let due = max(notBefore, readAgain)
    guard now.boot >= due else { return setTimer(Broken.promise(.lostWakeup) ? nil : due) }
    guard isPositionCertain || Broken.promise(.marksAnew) else { return writeMark() }
    guard hasPlace else {
      if !isAskingForPlace {
        isAskingForPlace = true
        actions.append(.requestPlace)
      }
      return
    }
    if rules.onUnsure == .hold && !position.flags.contains(.begun) && !Broken.promise(.beginningHolds) {
      // A person decides if the program doesn't live to see the end of it, either.
      position.flags.insert(.begun)
      return writeMark()
    }
    setTimer(removable.isEmpty ? nil : removeBy)
    if position.firstAttempt == nil { position.firstAttempt = now.wall }
    lastNumber &+= 1
    activity = .sending(lastNumber)
    actions.append(
      .send(
        number: lastNumber, sequence: next, part: position.headPartsDone + 1, attempt: position.attempts &+ 1))
  }

  /// Takes what was delivered out of the queue, unless the next one is on its way already and more will follow.
  private mutating func removeDelivered(_ now: Moment) {
    guard !removable.isEmpty else { return }
    let isUnderWay = activity == .none ? isAskingForPlace : activity != .marking(owed: true)
    guard !isUnderWay || removable.count >= Self.removedTogether || now.boot >= removeBy else {
      return setTimer(removeBy)
    }
    actions.append(.remove(sequences: removable))
    removable = []
  }

  /// Whether something keeps this pipeline from sending until somebody acts.
  var isHeld: Bool {
    (isPaused && !Broken.promise(.pauseHolds)) || attention != nil
      || (targetProblem != nil && !Broken.promise(.targetHolds))
  }

  package var isPaused: Bool { isPausedByCommand || isPausedByConfiguration }

  mutating func setTimer(_ moment: BootTime?) {
    guard moment != timer else { return }
    timer = moment
    actions.append(.setTimer(moment))
  }

  mutating func releasePlace() {
    guard hasPlace || isAskingForPlace, !Broken.promise(.placeReturns) else { return }
    hasPlace = false
    isAskingForPlace = false
    actions.append(.releasePlace)
  }

  mutating func writeMark() {
    activity = Broken.promise(.markBeforeNext) ? .none : .marking(owed: false)
    actions.append(.mark(position))
  }

  mutating func move(_ action: DeliveryAction, _ sequence: UInt64) {
    lastMove = action
    activity = .moving(sequence)
    actions.append(action)
  }

  private mutating func timerFired() {
    timer = nil
    switch activity {
    case .marking(owed: true): writeMark()
    case .sending where Broken.promise(.oneInFlight): activity = .none
    case .moveOwed(let action):
      switch action {
      case .setAside(let sequence, _, _, _), .moveToCorrupt(let sequence, _): move(action, sequence)
      default: activity = .none
      }
    default: break
    }
  }
}
