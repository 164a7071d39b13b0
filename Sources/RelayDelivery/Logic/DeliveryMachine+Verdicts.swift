// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayQueue
import RelaySystem

/// From verdict to action: the table of docs/operating.md.
extension DeliveryMachine {
  mutating func finished(_ number: UInt64, _ reported: DeliveryVerdict, _ now: Moment) {
    guard activity == .sending(number) || (Broken.promise(.oldVerdict) && activity == .sending(lastNumber)), let head
    else { return }
    var verdict = reported
    let wasBegun = position.flags.contains(.begun)
    position.flags.remove(.begun)
    if verdict.code == .cancelled {
      if isCancelWanted || Broken.promise(.unaskedCancel) {
        if Broken.promise(.cancelledIsNone) { position.attempts += 1 }
        // Stays queued and counts as nothing.
        endSending()
        actions.append(.dismissWorker)
        if wasBegun { writeMark() }
        return
      }
      verdict.code = .none
      verdict.message = "The target reported that it was stopped, but nobody had asked it to."
    }
    startFailures = 0
    endSending()
    let part = position.headPartsDone + 1
    let attempt = position.attempts &+ 1
    if Broken.promise(.retryKeeps) && verdict.code == .retry
      || Broken.promise(.refusedKeeps) && verdict.code == .refused
    {
      verdict.code = .delivered
    }
    if Broken.promise(.refusedLeaves) && verdict.code == .refused { verdict.code = .retry }
    switch verdict.code {
    case .delivered:
      delivered(head, now)
      record(head, part, attempt, verdict, nextAttempt: nil)
    case .retry, .none, .cancelled:
      let before = actions.count
      tryAgain(head, verdict, now)
      let waits = attention == nil && activity == .marking(owed: false)
      // Else a wait so long would look like a mistake.
      if waits && rules.waitsLonger(after: verdict) { verdict.message = DeliveryRules.unsureNote(verdict.message) }
      record(head, part, attempt, verdict, nextAttempt: waits ? position.nextAttempt : nil, at: before)
    case .refused:
      position.rowMisbehaviours = 0
      record(head, part, attempt, verdict, nextAttempt: nil)
      setAside(head, attempts: attempt, verdict)
    case .needsAttention:
      position.attempts = attempt
      position.rowMisbehaviours = 0
      noteStuck(now)
      stop(verdict.problem ?? .deliveryNeedsAttention, verdict.message, now)
      record(head, part, attempt, verdict, nextAttempt: nil)
      writeMark()
    }
    if verdict.code != .delivered { actions.append(.dismissWorker) }
  }

  /// The delivery under way is over; whatever comes of it later isn't for this machine.
  mutating func endSending() {
    activity = .none
    isCancelWanted = false
    releasePlace()
  }

  /// Asks for the record of an attempt. It stands before whatever takes the artifact away, and its names with it.
  private mutating func record(
    _ head: HeadArtifact, _ part: UInt32, _ attempt: UInt32, _ verdict: DeliveryVerdict, nextAttempt: WallTime?,
    at place: Int? = nil
  ) {
    actions.insert(
      .record(sequence: head.sequence, part: part, attempt: attempt, verdict, nextAttempt: nextAttempt),
      at: min(place ?? actions.count, actions.count))
  }

  private mutating func delivered(_ head: HeadArtifact, _ now: Moment) {
    position.headPartsDone += Broken.promise(.partsInOrder) && position.headPartsDone + 2 < head.partCount ? 2 : 1
    if !Broken.promise(.backoffResets) { position.backoffStep = 0 }
    position.rowMisbehaviours = 0
    position.stuckSince = nil
    forgetAttempts()
    if Broken.promise(.dropHolds) { toDrop.remove(head.sequence) }
    if position.headPartsDone >= head.partCount {
      toDrop.remove(head.sequence)
      position.pendingRemovals.append(.init(sequence: head.sequence, artifactID: head.artifact))
      if Broken.promise(.removeAfterMark) {
        actions.append(.remove(sequences: [head.sequence]))
      } else {
        removals.append(head.sequence)
      }
      queue.remove(head.sequence)
      complete(head.sequence)
    }
    beginSpacing(now)
    isStateToErase = true
    writeMark()
  }

  private mutating func tryAgain(_ head: HeadArtifact, _ verdict: DeliveryVerdict, _ now: Moment) {
    position.attempts &+= 1
    noteStuck(now)
    if verdict.code == .none {
      position.partMisbehaviours &+= 1
      position.rowMisbehaviours &+= 1
      if position.rowMisbehaviours >= DeliveryRules.misbehavioursInARow && !Broken.promise(.misbehaviourStops) {
        stop(
          .deliveryTargetMisbehaves,
          "The target failed \(position.rowMisbehaviours) times in a row without a verdict. Last: \(verdict.message)",
          now)
        return writeMark()
      }
      if position.partMisbehaviours >= DeliveryRules.misbehavioursOfOnePart && !Broken.promise(.poisonLeaves) {
        var reason = verdict
        reason.message =
          "The target failed \(position.partMisbehaviours) times on this part without a verdict. Last: \(verdict.message)"
        // Its own counter in a row goes on: a target that fails on everything is a matter for a person.
        return setAside(head, attempts: position.attempts, reason)
      }
    } else {
      position.rowMisbehaviours = 0
    }
    if verdict.maybeDelivered && rules.onUnsure == .hold && !Broken.promise(.unsureHolds) {
      stop(
        .deliveryUnsure,
        "Everything was sent and the answer was lost, so it may have arrived: \(DeliveryRules.sentence(verdict.message))"
          + DeliveryRules.unsureAdvice, now)
      return writeMark()
    }
    beginWait(rules.wait(after: verdict, step: position.backoffStep, chance: now.chance), now)
    if !Broken.promise(.backoffGrows) { position.backoffStep &+= 1 }
    writeMark()
  }

  private mutating func setAside(_ head: HeadArtifact, attempts: UInt32, _ verdict: DeliveryVerdict) {
    move(
      .setAside(sequence: head.sequence, part: position.headPartsDone + 1, attempts: attempts, verdict), head.sequence)
  }

  private mutating func noteStuck(_ now: Moment) {
    if position.stuckSince == nil { position.stuckSince = now.wall }
  }

  mutating func stop(_ code: DiagnosticCode, _ message: String, _ now: Moment) {
    attention = Attention(
      code: code.rawValue, message: message, since: now.wall.milliseconds, fingerprint: rules.fingerprint)
    save()
  }

  mutating func save() { actions.append(.save(attention: attention, pausedByCommand: isPausedByCommand)) }

  /// No worker could be started: no attempt, a short wait that grows to a minute.
  mutating func notStarted(_ reason: String, _ now: Moment) {
    guard case .sending = activity else { return }
    endSending()
    diskProblem = reason
    startFailures = min(startFailures &+ 1, 7)
    notBefore = now.boot.advanced(milliseconds: min(60_000, 500 << Int64(startFailures)))
  }
}
