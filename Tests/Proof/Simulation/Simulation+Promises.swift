// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// Judging what the machine does against what the design promises.
extension Simulation {
  /// Takes note of an event that the machine is about to get.
  func learn(_ event: DeliveryEvent, _ pipeline: SimulatedPipeline) {
    switch event {
    case .loaded(let queue, _, _, _): learnLoaded(pipeline, queue)
    case .committed(let sequence):
      if let artifact = pipeline.artifact(at: sequence) {
        pipeline.promises.known.insert(artifact.number)
        pipeline.promises.late.remove(artifact.number)
      }
    case .verdict(let number, let verdict):
      guard let sending = pipeline.promises.sending, sending.number == number else { return }
      pipeline.promises.sending = nil
      learn(verdict, sending, pipeline)
    case .handedBack, .notStarted: (pipeline.promises.sending, pipeline.promises.begun) = (nil, nil)
    case .unreadable(let sequence, _), .damaged(let sequence, _):
      if pipeline.promises.sending?.sequence == sequence {
        (pipeline.promises.sending, pipeline.promises.begun) = (nil, nil)
      }
    case .marked: learnMarked(pipeline)
    case .stopped(let sequence, _, _):
      if let artifact = pipeline.artifact(at: sequence) {
        pipeline.promises.dropped.remove(artifact.number)
        pipeline.promises.isToLeave.remove(artifact.number)
      }
      pipeline.promises.isHeld = true
    case .resume, .changed:
      if case .resume = event {
        pipeline.promises.isPausedByCommand = false
        if !pipeline.promises.hasLoaded { pipeline.promises.pausedEarly = false }
      }
      release(pipeline)
      pipeline.promises.wait.row = 0
      pipeline.promises.wait.partRow = 0
    case .pause(let byCommand?, _):
      pipeline.promises.isPausedByCommand = byCommand
      if !pipeline.promises.hasLoaded { pipeline.promises.pausedEarly = byCommand }
    case .tryNow:
      endWait(pipeline)
      if !pipeline.promises.hasLoaded { pipeline.promises.isTriedEarly = true }
    case .target(let problem):
      if problem == nil && pipeline.machine?.targetProblem != nil { endWait(pipeline) }
    case .testEnded(let passed): if passed && pipeline.promises.isHeld { release(pipeline) }
    case .drop(let sequence):
      guard let artifact = pipeline.artifact(at: sequence) else { return }
      pipeline.promises.mayBeSetAside.insert(artifact.number)
      if pipeline.promises.hasLoaded && pipeline.machine?.queue.contains(sequence) == true {
        pipeline.promises.dropped.insert(artifact.number)
      }
    default: break
    }
  }

  /// A person ends a wait, but never the spacing.
  private func endWait(_ pipeline: SimulatedPipeline) {
    pipeline.promises.wait.floor = pipeline.promises.lastDelivery.map { $0 + pipeline.rules.spacing } ?? .min
  }

  private func release(_ pipeline: SimulatedPipeline) {
    pipeline.promises.isHeld = false
    endWait(pipeline)
    if !pipeline.promises.hasLoaded { pipeline.promises.isReleasedEarly = true }
  }

  private func learn(_ verdict: DeliveryVerdict, _ sending: Promises.Sending, _ pipeline: SimulatedPipeline) {
    var wait = pipeline.promises.wait
    defer { pipeline.promises.wait = wait }
    let rules = pipeline.rules
    var code = verdict.code
    if code == .cancelled {
      if pipeline.machine?.isCancelWanted == true { return }
      code = .none
    }
    func waits(_ milliseconds: Int64) {
      wait.floor = now + milliseconds
      wait.wallOffset = wallOffset
    }
    switch code {
    case .delivered:
      pipeline.promises.accepted[sending.artifact.number] = sending.part
      pipeline.promises.unmarked = (sending.sequence, sending.part)
      wait = Promises.Wait()
      pipeline.promises.lastDelivery = now
      waits(rules.spacing)
      pipeline.promises.longestWait = rules.spacing
    case .refused:
      pipeline.promises.isToLeave.insert(sending.artifact.number)
      pipeline.promises.mayBeSetAside.insert(sending.artifact.number)
      wait.row = 0
    case .needsAttention:
      wait.attempts += 1
      wait.row = 0
      pipeline.promises.isHeld = true
    default:
      wait.attempts += 1
      if code == .none {
        wait.row += 1
        wait.partRow += 1
        if wait.row >= 10 {
          pipeline.promises.isHeld = true
          return
        }
        if wait.partRow >= 5 {
          pipeline.promises.isToLeave.insert(sending.artifact.number)
          pipeline.promises.mayBeSetAside.insert(sending.artifact.number)
          return
        }
      } else {
        wait.row = 0
      }
      if verdict.maybeDelivered && rules.onUnsure == .hold {
        pipeline.promises.isHeld = true
        return
      }
      waits(shortest(rules, verdict, step: wait.step))
      pipeline.promises.longestWait = longest(rules, verdict, step: wait.step)
      wait.step += 1
    }
  }

  /// The least that must pass before the next attempt, reckoned anew from the words of the design.
  private func shortest(_ rules: DeliveryRules, _ verdict: DeliveryVerdict, step: UInt32) -> Int64 {
    var wait = rules.retryFirst
    for _ in 0..<min(step, 40) { wait = min(rules.retryMost, wait * 2) }
    wait = min(wait, rules.retryMost)
    wait -= wait / 10 + 1
    wait = max(wait, Int64(min(verdict.retryAfterMilliseconds, 86_400_000)))
    if verdict.maybeDelivered && !rules.isIdempotent { wait = max(wait, 600_000) }
    return wait
  }

  private func longest(_ rules: DeliveryRules, _ verdict: DeliveryVerdict, step: UInt32) -> Int64 {
    var wait = rules.retryFirst
    for _ in 0..<min(step, 40) { wait = min(rules.retryMost, wait * 2) }
    wait = min(rules.retryMost, wait + wait / 10 + 1)
    return max(wait, 600_000, Int64(min(verdict.retryAfterMilliseconds, 86_400_000)))
  }

  private func learnMarked(_ pipeline: SimulatedPipeline) {
    guard pipeline.machine?.isMarking == true else { return }
    if pipeline.promises.sending == nil { pipeline.promises.begun = nil }
    pipeline.promises.markedWait = pipeline.promises.writtenWait
    pipeline.promises.confirmedGeneration = pipeline.marks.slots.newest.generation
  }

  /// What the new machine begins with is what survived.
  private func learnLoaded(_ pipeline: SimulatedPipeline, _ queue: [UInt64]) {
    let found = pipeline.marks.slots.newest
    if found.generation < pipeline.promises.confirmedGeneration {
      violated(pipeline, "a mark that was on the disk is gone: \(found.generation)")
    }
    if found.generation == pipeline.promises.confirmedGeneration {
      pipeline.promises.wait = pipeline.promises.markedWait
      // Of a clock that stepped, only the wait's length is owed, not its end.
      if pipeline.promises.wait.wallOffset != wallOffset { pipeline.promises.wait.floor = .min }
    } else {
      // Written, but not known to be on the disk: it came to light. It binds once it was written anew.
      pipeline.promises.wait = Promises.Wait(
        step: found.backoffStep, attempts: found.attempts, row: Int(found.rowMisbehaviours),
        partRow: Int(found.partMisbehaviours))
    }
    pipeline.promises.leastGeneration = found.generation
    var accepted: [Int: UInt32] = [:]
    pipeline.promises.known = []
    for artifact in pipeline.artifacts {
      guard let sequence = artifact.sequence, queue.contains(sequence) else { continue }
      pipeline.promises.known.insert(artifact.number)
      if found.headSequence == sequence && found.headArtifactID == artifact.identifier {
        accepted[artifact.number] = found.headPartsDone
      }
    }
    pipeline.promises.accepted = accepted
    let queued = pipeline.artifacts.compactMap(\.sequence).filter { $0 > found.completedThrough }
    // One that came to light before an artifact that wasn't begun goes first.
    let isHeadNext = found.headPartsDone > 0 ? queued.contains(found.headSequence) : queued.min() == found.headSequence
    let isSame = pipeline.artifact(at: found.headSequence)?.identifier == found.headArtifactID
    if !isHeadNext || !isSame {
      pipeline.promises.wait.attempts = 0
      pipeline.promises.wait.partRow = 0
    }
    pipeline.promises.hasLoaded = true
    pipeline.promises.isPausedByCommand =
      pipeline.promises.pausedEarly ?? pipeline.state.loaded?.pausedByCommand ?? false
    let saved = pipeline.state.loaded?.attention
    pipeline.promises.isHeld = saved.map { $0.fingerprint == pipeline.rules.fingerprint } ?? false
    if saved != nil && !pipeline.promises.isHeld {
      pipeline.promises.wait.floor = .min
      pipeline.promises.wait.row = 0
      pipeline.promises.wait.partRow = 0
    }
    // Unless what came of it was written after all, and came to light.
    if let begun = pipeline.promises.begun, found.generation == pipeline.promises.confirmedGeneration,
      pipeline.rules.onUnsure == .hold, isSame, isHeadNext,
      pipeline.artifact(at: found.headSequence)?.number == begun.artifact, found.headPartsDone < begun.part
    {
      pipeline.promises.isHeld = true
    }
    pipeline.promises.begun = nil
    if pipeline.promises.isTriedEarly { pipeline.promises.wait.floor = .min }
    if pipeline.promises.isReleasedEarly {
      release(pipeline)
      pipeline.promises.wait.row = 0
      pipeline.promises.wait.partRow = 0
    }
  }

  private func judgeRemoval(_ sequence: UInt64, _ pipeline: SimulatedPipeline) {
    guard let artifact = pipeline.artifact(at: sequence) else { return }
    if !artifact.isWhollyReceived { violated(pipeline, "artifact \(sequence) is removed and wasn't delivered whole") }
    let believed = pipeline.marks.slots.newest
    if !believed.pendingRemovals.contains(where: { $0.sequence == sequence && $0.artifactID == artifact.identifier }) {
      violated(pipeline, "artifact \(sequence) is removed before the mark that says so is on the disk")
    }
  }

  /// Judges what the machine wants done.
  func judge(_ action: DeliveryAction, _ pipeline: SimulatedPipeline) {
    switch action {
    case .send(let number, let sequence, let part, let attempt):
      judgeSend(number, sequence, part, attempt, pipeline)
    case .mark(let record):
      if record.pendingRemovals.count > MarkRecord.mostPendingRemovals {
        violated(pipeline, "\(record.pendingRemovals.count) removals are outstanding")
      }
      pipeline.promises.writtenWait = pipeline.promises.wait
      if let start = record.waitStarted, let end = record.nextAttempt, record.headPartsDone > 0 || record.attempts > 0,
        end.milliseconds(since: start) > pipeline.promises.longestWait
      {
        violated(pipeline, "a wait of \(end.milliseconds(since: start)) ms is too long")
      }
    case .remove(let sequences): for sequence in sequences { judgeRemoval(sequence, pipeline) }
    case .setAside(let sequence, _, _, _):
      guard let artifact = pipeline.artifact(at: sequence) else { return }
      if !pipeline.promises.mayBeSetAside.contains(artifact.number) {
        violated(pipeline, "artifact \(sequence) is set aside and nobody wanted that")
      }
    case .requeue(let sequence):
      if let artifact = pipeline.artifact(at: sequence) {
        pipeline.promises.known.remove(artifact.number)
        pipeline.promises.late.insert(artifact.number)
      }
    default: break
    }
  }

  private func judgeSend(
    _ number: UInt64, _ sequence: UInt64, _ part: UInt32, _ attempt: UInt32, _ pipeline: SimulatedPipeline
  ) {
    let promises = pipeline.promises
    if promises.sending != nil { violated(pipeline, "two are in flight") }
    guard let artifact = pipeline.artifact(at: sequence) else {
      return violated(pipeline, "\(sequence).\(part) is sent and isn't in the queue")
    }
    if promises.isHeld { violated(pipeline, "\(sequence).\(part) is sent while a person is needed") }
    if promises.isPausedByCommand || pipeline.isPausedByConfiguration || pipeline.targetProblem != nil {
      violated(pipeline, "\(sequence).\(part) is sent while paused or without a target")
    }
    if isStopping || pipeline.isRetired { violated(pipeline, "\(sequence).\(part) is begun while stopping") }
    if promises.dropped.contains(artifact.number) { violated(pipeline, "\(sequence).\(part) is sent though dropped") }
    if promises.isToLeave.contains(artifact.number) {
      violated(pipeline, "\(sequence).\(part) is sent though it is to leave")
    }
    let done = promises.accepted[artifact.number] ?? 0
    if part <= done { violated(pipeline, "\(sequence).\(part) is sent again though \(done) are marked") }
    if part > done + 1 { violated(pipeline, "\(sequence).\(part) is sent after \(done): parts are skipped") }
    for other in pipeline.artifacts where other !== artifact && isInLine(other, pipeline) {
      guard let place = other.sequence else { continue }
      let otherDone = promises.accepted[other.number] ?? 0
      if otherDone >= other.partCount { continue }
      if place < sequence { violated(pipeline, "\(sequence).\(part) is sent before \(place)") }
      if otherDone > 0 { violated(pipeline, "\(sequence).\(part) is sent amid the parts of \(place)") }
    }
    if let unmarked = promises.unmarked {
      if !Promises.covers(pipeline.marks.certain, unmarked.sequence, unmarked.part) {
        violated(pipeline, "\(sequence).\(part) is sent before the mark of \(unmarked.sequence).\(unmarked.part)")
      }
      pipeline.promises.unmarked = nil
    }
    if pipeline.marks.certain.generation < promises.leastGeneration {
      violated(pipeline, "\(sequence).\(part) is sent before what was found at the start is on the disk")
    }
    if now < promises.wait.floor {
      violated(pipeline, "\(sequence).\(part) is sent \(promises.wait.floor - now) ms early")
    }
    if attempt != promises.wait.attempts + 1 {
      violated(pipeline, "\(sequence).\(part) is attempt \(attempt), should be \(promises.wait.attempts + 1)")
    }
    pipeline.promises.sending = .init(number: number, artifact: artifact, sequence: sequence, part: part)
    pipeline.promises.begun = pipeline.rules.onUnsure == .hold ? (artifact.number, part) : nil
  }

  /// Whether an artifact is to keep its place in the line: one that was announced, and where announcements keep the order
  /// each that has a number.
  private func isInLine(_ artifact: SimulatedArtifact, _ pipeline: SimulatedPipeline) -> Bool {
    let promises = pipeline.promises
    if promises.known.contains(artifact.number) { return true }
    guard !character.announcesOutOfOrder, !promises.late.contains(artifact.number) else { return false }
    return artifact.lastSequence > pipeline.marks.slots.newest.completedThrough
  }

  /// An artifact has been set aside.
  func learnMoved(_ artifact: SimulatedArtifact, wasFirst: Bool, isRefusal: Bool, _ pipeline: SimulatedPipeline) {
    guard wasFirst else { return }
    pipeline.promises.wait.attempts = 0
    pipeline.promises.wait.partRow = 0
    pipeline.promises.longestWait = max(pipeline.promises.longestWait, pipeline.rules.spacing)
    // Damage says nothing of the receiver: what waits for that one goes on waiting.
    guard isRefusal else { return }
    pipeline.promises.wait.floor = now + pipeline.rules.spacing
    pipeline.promises.wait.wallOffset = wallOffset
    pipeline.promises.wait.step = 0
  }
}
