// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// The part of the delivery engine, in small: feeds the machines and does what they decide, as `DeliveryEngine` does.
extension Simulation {
  func feed(_ pipeline: SimulatedPipeline, _ event: DeliveryEvent) {
    guard pipeline.machine != nil else { return }
    pipeline.events.append(event)
    guard !pipeline.isHandling else { return }
    pipeline.isHandling = true
    while !pipeline.events.isEmpty {
      let next = pipeline.events.removeFirst()
      eventCount += 1
      trace("\(pipeline.id) ← \(next)")
      learn(next, pipeline)
      let wasFirst = movesFirst(next, pipeline)
      let moment = DeliveryMachine.Moment(boot: boot, wall: wall, chance: chance.fraction())
      guard let actions = pipeline.machine?.handle(next, at: moment) else { break }
      if let (artifact, isRefusal) = wasFirst {
        learnMoved(artifact, wasFirst: true, isRefusal: isRefusal, pipeline)
      }
      for action in actions {
        trace("\(pipeline.id)   → \(action)")
        judge(action, pipeline)
        perform(action, pipeline)
      }
    }
    pipeline.isHandling = false
    if pipeline.isRetired || isStopping { finishIfIdle(pipeline) }
  }

  /// Whether it is the head that was set aside, and how.
  private func movesFirst(_ event: DeliveryEvent, _ pipeline: SimulatedPipeline) -> (SimulatedArtifact, Bool)? {
    guard case .movedAway(let sequence) = event, pipeline.machine?.queue.first == sequence,
      let artifact = pipeline.lastMoved, pipeline.lastMovedSequence == sequence
    else { return nil }
    return (artifact, pipeline.lastMoveWasRefusal)
  }

  private func perform(_ action: DeliveryAction, _ pipeline: SimulatedPipeline) {
    switch action {
    case .open(let sequence): pipeline.jobs.append(.open(sequence))
    case .requestPlace, .sendTest: act(on: places.request(pipeline.id, since: boot))
    case .releasePlace:
      releasePlace(pipeline)
      if pipeline.worker != nil { watchIdle(pipeline) }
    case .send(let number, let sequence, let part, let attempt):
      pipeline.isHandingOver = true
      pipeline.jobs.append(
        .prepare(
          number: number, sequence: sequence, part: part, attempt: attempt, isForNewWorker: pipeline.worker == nil,
          generation: pipeline.generation))
    case .mark(let record): pipeline.jobs.append(.mark(record))
    case .moveToCorrupt(let sequence, _): pipeline.jobs.append(.move(sequence, to: .corrupt, isRefusal: false))
    case .setAside(let sequence, _, _, _): pipeline.jobs.append(.move(sequence, to: .refused, isRefusal: true))
    // One by one, so that a crash comes in between, too.
    case .remove(let sequences): pipeline.jobs += sequences.map { .remove($0) }
    case .requeue(let sequence): pipeline.jobs.append(.requeue(sequence))
    case .cancel: pipeline.worker?.flight?.isCancelled = true
    case .dismissWorker: dismissWorker(pipeline)
    case .setTimer(let moment):
      pipeline.timer = moment.map { moment in moment.milliseconds(since: BootTime(nanoseconds: 0)) + switchedOn }
    case .save(let attention, let paused):
      pipeline.jobs.append(.save(SavedState(attention: attention, pausedByCommand: paused)))
    case .eraseDeliveryState, .record, .note: break
    }
  }

  func act(on decisions: [WorkerPlaces.Decision]) {
    for decision in decisions {
      switch decision {
      case .grant(let id):
        guard let pipeline = pipelines.first(where: { $0.id == id }), let machine = pipeline.machine else {
          act(on: places.ended(id))
          continue
        }
        if machine.isTesting { beginTest(pipeline) } else { feed(pipeline, .placeGranted) }
      case .dismiss(let id):
        if let pipeline = pipelines.first(where: { $0.id == id }) { dismissWorker(pipeline) }
      }
    }
  }

  private func beginTest(_ pipeline: SimulatedPipeline) {
    guard pipeline.worker?.isLeaving != true else {
      act(on: places.release(pipeline.id, now: boot))
      return act(on: places.request(pipeline.id, since: boot))
    }
    if pipeline.worker == nil { pipeline.worker = SimulatedWorker(idleSince: now) }
    pipeline.worker?.flight = SimulatedFlight(number: 0, artifact: nil, part: 1)
  }

  /// A place without a worker is free at once: no worker's end will give it back.
  private func releasePlace(_ pipeline: SimulatedPipeline) {
    act(on: places.release(pipeline.id, now: boot))
    if pipeline.worker == nil { act(on: places.ended(pipeline.id)) }
  }

  func endTest(_ pipeline: SimulatedPipeline, passed: Bool) {
    releasePlace(pipeline)
    dismissWorker(pipeline)
    feed(pipeline, .testEnded(passed: passed))
  }

  func dismissWorker(_ pipeline: SimulatedPipeline) {
    pipeline.generation += 1
    guard pipeline.worker != nil else { return }
    pipeline.worker?.isLeaving = true
    places.markLeaving(pipeline.id)
  }

  func watchIdle(_ pipeline: SimulatedPipeline) {
    if pipeline.worker?.isLeaving == true { return dismissWorker(pipeline) }
    pipeline.worker?.idleSince = now
  }

  /// The worker's process has ended.
  func workerEnded(_ pipeline: SimulatedPipeline) {
    guard let worker = pipeline.worker else { return }
    pipeline.worker = nil
    trace("\(pipeline.id) worker ended")
    act(on: places.ended(pipeline.id))
    if let flight = worker.flight {
      if flight.isReceived { broke(pipeline) }
      let verdict =
        flight.isCancelled
        ? DeliveryVerdict(.cancelled) : DeliveryVerdict(.none, maybeDelivered: flight.isReceived, message: "crashed")
      if flight.isTest {
        endTest(pipeline, passed: false)
      } else {
        feed(pipeline, .verdict(number: flight.number, verdict))
      }
    }
    if pipeline.isRetired || isStopping { finishIfIdle(pipeline) }
  }

  // MARK: Coming and going

  func startHost() {
    isUp = true
    isStopping = false
    stopDeadline = nil
    places = WorkerPlaces(limit: character.places)
    trace("the host starts")
    for pipeline in pipelines { beginIfWanted(pipeline) }
  }

  func beginIfWanted(_ pipeline: SimulatedPipeline) {
    guard pipeline.isWanted, pipeline.machine == nil, isUp, !isStopping else { return }
    pipeline.machine = DeliveryMachine(rules: pipeline.rules)
    pipeline.runtime += 1
    pipeline.isRetired = false
    pipeline.isFolderOpen = false
    pipeline.promises.hostDied()
    update(pipeline)
    pipeline.jobs.append(.load(runtime: pipeline.runtime))
  }

  /// The configuration is read and applied.
  func update(_ pipeline: SimulatedPipeline) {
    feed(pipeline, .rules(pipeline.rules))
    feed(pipeline, .pause(byCommand: nil, byConfiguration: pipeline.isPausedByConfiguration))
    feed(pipeline, .target(problem: pipeline.targetProblem))
  }

  func retire(_ pipeline: SimulatedPipeline) {
    guard pipeline.machine != nil, !pipeline.isRetired else { return }
    pipeline.isRetired = true
    pipeline.machine?.forgetTimer()
    pipeline.timer = nil
    pipeline.loadTimer = nil
    feed(pipeline, .stopping)
    dismissWorker(pipeline)
    finishIfIdle(pipeline)
  }

  func stop() {
    trace("the host is told to stop")
    isStopping = true
    stopDeadline = now + 5000
    for pipeline in pipelines where pipeline.machine != nil {
      feed(pipeline, .stopping)
      dismissWorker(pipeline)
    }
    if let any = pipelines.first(where: { $0.machine != nil }) { finishIfIdle(any) } else { hostEnds() }
  }

  func finishIfIdle(_ pipeline: SimulatedPipeline) {
    guard isUp, let machine = pipeline.machine, !machine.isBusy, pipeline.worker == nil else { return }
    if pipeline.isRetired {
      trace("\(pipeline.id) has left")
      // A mark that couldn't be written leaves with it.
      if machine.isMarking { broke(pipeline) }
      pipeline.machine = nil
      pipeline.timer = nil
      pipeline.promises.hostDied()
      beginIfWanted(pipeline)
    }
    if isStopping,
      pipelines.allSatisfy({ $0.worker == nil && $0.machine?.isBusy != true })
    {
      hostEnds()
    }
  }
}
