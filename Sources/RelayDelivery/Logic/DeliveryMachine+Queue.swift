// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayQueue
import RelaySystem

/// What the disk says: the queue as it was found, artifacts that open or don't, folders that moved.
extension DeliveryMachine {
  mutating func load(
    _ sequences: [UInt64], _ found: MarkRecord, _ stopped: Attention?, _ pausedByCommand: Bool, _ now: Moment
  ) {
    guard activity == .loading else { return }
    let arrived = queue
    queue = SequenceQueue(sequences)
    for sequence in arrived.all { queue.insert(sequence) }
    position = found
    diskProblem = nil
    isPausedByCommand = pausedByCommand && !Broken.promise(.pauseSurvives)
    activity = .none
    if position.headSequence != 0 && !queue.contains(position.headSequence) { forgetHead() }
    isPositionCertain = found.generation == 0
    notBefore = now.boot.advanced(milliseconds: Broken.promise(.waitSurvives) ? 0 : remainingWait(at: now.wall))
    // A wait without an attempt before it is the spacing after the last delivery.
    if position.attempts == 0 && position.backoffStep == 0 {
      lastDelivery = notBefore.advanced(milliseconds: -rules.spacing)
    }
    // Delivered, and recovery couldn't take them out.
    removable = position.pendingRemovals.map(\.sequence)
    if position.headPartsDone > 0 {
      // They came to light late, and the process ended before they were put at the end.
      for sequence in queue.all where sequence < position.headSequence {
        queue.remove(sequence)
        actions.append(.requeue(sequence: sequence))
      }
    }
    if let stopped, stopped.fingerprint != rules.fingerprint {
      actions.append(.note("The settings have changed since it stopped: it goes on."))
      actions.append(.save(attention: nil, pausedByCommand: pausedByCommand))
      forgiveMisbehaviour()
      endWait(now)
    } else {
      attention = Broken.promise(.attentionHolds) ? nil : stopped
    }
    holdBegun(now)
    let said = early
    early = []
    for event in said { command(event, now) }
  }

  /// The process ended in the middle of a delivery that a person decides about if it may have arrived.
  private mutating func holdBegun(_ now: Moment) {
    guard position.flags.contains(.begun) else { return }
    position.flags.remove(.begun)
    guard rules.onUnsure == .hold, attention == nil, position.headSequence != 0 else { return }
    stop(
      .deliveryUnsure,
      "The program or the machine ended in the middle of a delivery, so it may have arrived. "
        + DeliveryRules.unsureAdvice, now)
    writeMark()
  }

  /// A new artifact. One that comes to light only when later ones are done or begun is put at the end: in between it would
  /// be taken for done with, or cut the one under way in two.
  mutating func committed(_ sequence: UInt64) {
    let isBegun = position.headSequence != 0 && (position.headPartsDone > 0 || head != nil)
    let isLate = sequence <= position.completedThrough || (isBegun && sequence < position.headSequence)
    guard activity != .loading, isLate, !Broken.promise(.lateLast), !queue.contains(sequence) else {
      return queue.insert(sequence)
    }
    if !position.pendingRemovals.contains(where: { $0.sequence == sequence }) {
      actions.append(.requeue(sequence: sequence))
    }
  }

  /// What is left of a wait that was written down: never longer than the whole wait, whatever the wall clock did.
  func remainingWait(at wall: WallTime) -> Int64 {
    guard let end = position.nextAttempt, let start = position.waitStarted, end > start else { return 0 }
    let longest = max(Int64(DeliveryRules.longestReceiverWait), rules.retryMost)
    let whole = min(end.milliseconds(since: start), longest)
    if Broken.promise(.clockClamp) { return max(0, end.milliseconds(since: wall)) }
    return max(0, min(end.milliseconds(since: wall), whole))
  }

  mutating func opened(_ artifact: HeadArtifact) {
    guard activity == .opening(artifact.sequence) else { return }
    activity = .none
    diskProblem = nil
    if position.headSequence != artifact.sequence || position.headArtifactID != artifact.artifact {
      let wait = (position.waitStarted, position.nextAttempt, position.backoffStep, position.rowMisbehaviours)
      forgetHead()
      (position.waitStarted, position.nextAttempt, position.backoffStep, position.rowMisbehaviours) = wait
      position.headSequence = artifact.sequence
      position.headArtifactID = artifact.artifact
    }
    head = artifact
    // Marks that claim more parts than there are prove nothing: sending again is safe, skipping isn't.
    if position.headPartsDone >= artifact.partCount { position.headPartsDone = 0 }
  }

  mutating func damaged(_ sequence: UInt64, _ reason: String) {
    switch activity {
    case .opening(sequence): break
    case .sending where head?.sequence == sequence: endSending()
    default: return
    }
    move(.moveToCorrupt(sequence: sequence, reason: reason), sequence)
  }

  mutating func unreadable(_ sequence: UInt64, _ reason: String, _ now: Moment) {
    switch activity {
    case .opening(sequence): activity = .none
    case .sending where head?.sequence == sequence: endSending()
    default: return
    }
    diskProblem = reason
    if Broken.promise(.unreadableWaits) { notBefore = now.boot.advanced(milliseconds: 30_000) }
    readAgain = now.boot.advanced(milliseconds: 30_000)
  }

  mutating func movedAway(_ sequence: UInt64, _ now: Moment) {
    guard activity == .moving(sequence) else { return }
    diskProblem = nil
    let isDamage = if case .moveToCorrupt = lastMove { !Broken.promise(.damageWaits) } else { false }
    lastMove = nil
    let wasFirst = queue.first == sequence
    queue.remove(sequence)
    guard wasFirst else {
      activity = .none
      return
    }
    let step = position.backoffStep
    complete(sequence)
    // What couldn't be read was that one.
    readAgain = now.boot
    if isDamage {
      // Damage says nothing of the receiver: what waits for that one goes on waiting.
      position.backoffStep = step
      if notBefore < now.boot.advanced(milliseconds: rules.spacing) { beginSpacing(now) }
    } else {
      beginSpacing(now)
    }
    isStateToErase = true
    writeMark()
  }

  /// Goes on to the next artifact.
  mutating func complete(_ sequence: UInt64) {
    position.completedThrough = max(position.completedThrough, sequence)
    position.backoffStep = 0
    forgetHead()
  }

  mutating func forgetHead() {
    head = nil
    position.headSequence = 0
    position.headArtifactID = nil
    position.headPartsDone = 0
    position.stuckSince = nil
    forgetAttempts()
  }

  mutating func forgetAttempts() {
    position.attempts = 0
    position.partMisbehaviours = 0
    position.firstAttempt = nil
  }

  /// The wait after something was delivered or set aside.
  mutating func beginSpacing(_ now: Moment) {
    lastDelivery = now.boot
    beginWait(Broken.promise(.spacing) ? 0 : rules.spacing, now)
  }

  mutating func beginWait(_ milliseconds: Int64, _ now: Moment) {
    notBefore = now.boot.advanced(milliseconds: milliseconds)
    position.waitStarted = now.wall
    position.nextAttempt = now.wall.advanced(milliseconds: milliseconds)
  }

  mutating func marked(_ now: Moment) {
    guard isMarking || Broken.promise(.markBeforeNext) else { return }
    activity = .none
    diskProblem = nil
    isPositionCertain = true
    if isStateToErase { actions.append(.eraseDeliveryState) }
    isStateToErase = false
    if removable.isEmpty { removeBy = now.boot.advanced(milliseconds: Self.removalWait) }
    removable += removals
    removals = []
  }
}
