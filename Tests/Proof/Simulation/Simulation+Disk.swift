// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayJSON
import RelayOracle
import RelayQueue
import RelaySystem

/// Work on the disk, with the rules of `PipelineFolder` and `Marks`.
extension Simulation {
  func post(_ pipeline: SimulatedPipeline, _ item: Posted) { posted.append((pipeline.index, item)) }

  /// Runs the next piece of work of some pipeline; false when none waits.
  func runJob() throws -> Bool {
    let waiting = pipelines.filter { !$0.jobs.isEmpty }
    guard let pipeline = chance.pick(waiting) else { return false }
    let job = pipeline.jobs.removeFirst()
    trace("\(pipeline.id) disk: \(job)")
    switch job {
    case .load(let runtime): try load(pipeline, runtime)
    case .open(let sequence): try open(pipeline, sequence)
    case .prepare(let number, let sequence, let part, let attempt, let isForNewWorker, let generation):
      try prepare(pipeline, number, sequence, part, attempt, isForNewWorker, generation)
    case .mark(let record): try mark(pipeline, record)
    case .move(let sequence, let place, let isRefusal): try move(pipeline, sequence, place, isRefusal)
    case .remove(let sequence):
      post(pipeline, try remove(pipeline, sequence) ? .event(.removed(sequences: [sequence])) : .removeFailed(sequence))
    case .requeue(let sequence): try requeue(pipeline, sequence)
    case .save(let saved): try save(pipeline, saved)
    }
    return true
  }

  private func isUnreadable(_ artifact: SimulatedArtifact) -> Bool { now < artifact.unreadableUntil && !isQuiet }

  private func open(_ pipeline: SimulatedPipeline, _ sequence: UInt64) throws {
    guard let artifact = pipeline.artifact(at: sequence) else {
      return post(pipeline, .event(.damaged(sequence: sequence, reason: "gone")))
    }
    if isUnreadable(artifact) || diskFails() || (!isQuiet && chance.happens(character.openErrors)) {
      return post(pipeline, .event(.unreadable(sequence: sequence, reason: "EIO")))
    }
    if artifact.isDamaged && chance.happens(500) {
      return post(pipeline, .event(.damaged(sequence: sequence, reason: "bytes")))
    }
    artifact.readManifest()
    post(pipeline, .opened(sequence, artifact))
  }

  private func prepare(
    _ pipeline: SimulatedPipeline, _ number: UInt64, _ sequence: UInt64, _ part: UInt32, _ attempt: UInt32,
    _ isForNewWorker: Bool, _ generation: Int
  ) throws {
    guard let artifact = pipeline.openArtifact, artifact.sequence == sequence else {
      pipeline.isHandingOver = false
      return post(pipeline, .event(.unreadable(sequence: sequence, reason: "the artifact isn't open")))
    }
    let outcome: Preparation =
      isUnreadable(artifact)
      ? .unreadable
      : artifact.isDamaged ? .damaged : isForNewWorker && pipeline.isSecretMissing ? .secretMissing : .ready
    post(
      pipeline,
      .prepared(
        number: number, artifact, part: part, attempt: attempt, isForNewWorker: isForNewWorker, generation: generation,
        outcome))
  }

  private func mark(_ pipeline: SimulatedPipeline, _ record: MarkRecord) throws {
    try breathe()
    if let found = pipeline.marks.slots.unconfirmed {
      let failed = marksFail()
      pipeline.marks.write(found.record, to: found.slot, cut: failed, &chance)
      if failed { return post(pipeline, .event(.markFailed(reason: "EIO"))) }
      return commits.append(.confirmation(pipeline: pipeline.index, then: record))
    }
    guard record.pendingRemovals.count <= MarkRecord.mostPendingRemovals,
      let (slot, numbered) = pipeline.marks.slots.begin(record)
    else { return post(pipeline, .event(.markFailed(reason: "no slot"))) }
    if marksFail() {
      pipeline.marks.write(numbered, to: slot, cut: true, &chance)
      pipeline.marks.slots.end(slot, nil)
      return post(pipeline, .event(.markFailed(reason: "EIO")))
    }
    pipeline.marks.write(numbered, to: slot, cut: false, &chance)
    commits.append(.mark(pipeline: pipeline.index, slot: slot, record: numbered))
  }

  /// The committer syncs one thing; false when nothing waits.
  func runCommit() throws -> Bool {
    guard !commits.isEmpty || !submissions.isEmpty else { return false }
    if !submissions.isEmpty && (commits.isEmpty || chance.happens(500)) {
      let submission = submissions.remove(at: chance.below(submissions.count))
      committed(submission)
      return true
    }
    try breathe()
    switch commits.remove(at: chance.below(commits.count)) {
    case .mark(let index, let slot, let record):
      let pipeline = pipelines[index]
      let failed = marksFail()
      pipeline.marks.synced(!failed)
      pipeline.marks.slots.end(slot, failed ? nil : record)
      post(pipeline, .event(failed ? .markFailed(reason: "EIO at sync") : .marked))
    case .confirmation(let index, let record):
      let pipeline = pipelines[index]
      let failed = marksFail()
      pipeline.marks.synced(!failed)
      if failed {
        post(pipeline, .event(.markFailed(reason: "EIO at sync")))
      } else {
        pipeline.marks.slots.confirm()
        try mark(pipeline, record)
      }
    case .publication(let index, let artifact):
      let pipeline = pipelines[index]
      guard let sequence = publish(pipeline, artifact) else { return true }
      try breathe()
      let failed = diskFails()
      pipeline.synced(!failed)
      submissions.append(
        Submission(pipeline: index, artifact: artifact, sequence: sequence, isDurable: !failed))
    }
    return true
  }

  private func publish(_ pipeline: SimulatedPipeline, _ artifact: SimulatedArtifact) -> UInt64? {
    if pipeline.nextSequence == nil {
      let record = pipeline.marks.slots.newest
      pipeline.nextSequence = max(pipeline.largestSequence, record.completedThrough, record.headSequence) + 1
    }
    guard let sequence = pipeline.nextSequence else { return nil }
    pipeline.nextSequence = sequence + 1
    artifact.lastSequence = sequence
    artifact.move(to: .queue(sequence))
    pipeline.books.publish(sequence)
    return sequence
  }

  /// The submitter learns that its commit has ended, and says so.
  private func committed(_ submission: Submission) {
    let pipeline = pipelines[submission.pipeline]
    trace("\(pipeline.id) committed \(submission.sequence), durable: \(submission.isDurable)")
    if submission.isDurable {
      submission.artifact.isAccepted = true
      oracle.note(.acknowledged(pipeline: pipeline.index, artifact: submission.artifact.number))
    }
    pipeline.books.settle(submission.sequence)
    if character.announcesOutOfOrder {
      _ = pipeline.books.takeReady()
      post(pipeline, .event(.committed(sequence: submission.sequence)))
    } else {
      post(pipeline, .announce)
    }
  }

  private func move(
    _ pipeline: SimulatedPipeline, _ sequence: UInt64, _ place: SimulatedArtifact.Place, _ isRefusal: Bool
  ) throws {
    let artifact: SimulatedArtifact
    if let found = pipeline.artifact(at: sequence) {
      if isRefusal && pipeline.isRefusedFull && !isQuiet {
        return post(
          pipeline, .event(.stopped(sequence: sequence, code: .deliveryRefusedFull, message: "refused/ is full")))
      }
      try breathe()
      if diskFails() { return post(pipeline, .event(.moveFailed(sequence: sequence, reason: "EIO"))) }
      found.move(to: place)
      pipeline.lastMoved = found
      pipeline.lastMovedSequence = sequence
      pipeline.lastMoveWasRefusal = isRefusal
      artifact = found
    } else if let moved = pipeline.lastMoved, pipeline.lastMovedSequence == sequence {
      artifact = moved
    } else {
      // Gone already.
      return post(pipeline, .event(.movedAway(sequence: sequence)))
    }
    try breathe()
    let failed = diskFails()
    pipeline.synced(!failed)
    trace("\(pipeline.id) moved artifact \(artifact.number)")
    post(
      pipeline, .event(failed ? .moveFailed(sequence: sequence, reason: "EIO at sync") : .movedAway(sequence: sequence))
    )
  }

  /// As `PipelineFolder.remove`.
  func remove(_ pipeline: SimulatedPipeline, _ sequence: UInt64) throws -> Bool {
    if character.removalsFail && !isQuiet { return false }
    // What an earlier try has left is deleted first.
    for artifact in pipeline.artifacts where artifact.place == .trash && artifact.lastSequence == sequence {
      artifact.isContentGone = true
      artifact.move(to: .nowhere)
    }
    try breathe()
    let artifact = pipeline.artifact(at: sequence)
    if let artifact {
      if diskFails() { return false }
      if !artifact.isWhollyReceived { violated(pipeline, "\(sequence) is deleted and wasn't delivered") }
      artifact.move(to: .trash)
    }
    try breathe()
    let failed = diskFails()
    pipeline.synced(!failed)
    if failed { return false }
    if let artifact {
      artifact.isContentGone = true
      artifact.move(to: .nowhere)
    }
    return true
  }

  private func requeue(_ pipeline: SimulatedPipeline, _ sequence: UInt64) throws {
    guard let artifact = pipeline.artifact(at: sequence) else { return }
    try breathe()
    guard let new = publish(pipeline, artifact) else { return }
    try breathe()
    // One that isn't durable is where it was after a power cut, or where it is now.
    pipeline.synced(!diskFails())
    pipeline.books.settle(new)
    if character.announcesOutOfOrder {
      _ = pipeline.books.takeReady()
      post(pipeline, .event(.committed(sequence: new)))
    } else {
      post(pipeline, .announce)
    }
  }

  private func save(_ pipeline: SimulatedPipeline, _ saved: SavedState) throws {
    guard pipeline.state.loaded != saved || pipeline.state.isDoubtful else { return }
    pipeline.state.isDoubtful = true
    try breathe()
    if diskFails() { return post(pipeline, .saveFailed) }
    pipeline.state.replace(with: saved)
    try breathe()
    let failed = diskFails()
    pipeline.state.synced(!failed)
    if failed { return post(pipeline, .saveFailed) }
    pipeline.state.loaded = saved
    pipeline.state.isDoubtful = false
  }
}
