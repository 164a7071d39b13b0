// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayOracle
import RelayQueue
import RelaySystem

/// Workers, and the receivers behind them.
extension Simulation {
  /// A part was opened for a worker: it is handed over, as `DeliveryEngine.prepared` does.
  func prepared(
    _ pipeline: SimulatedPipeline, _ number: UInt64, _ artifact: SimulatedArtifact, _ part: UInt32,
    _ isForNewWorker: Bool, _ generation: Int, _ outcome: Preparation
  ) {
    pipeline.isHandingOver = false
    guard let machine = pipeline.machine, machine.isSending(number) else { return }
    let sequence = artifact.sequence ?? artifact.lastSequence
    switch outcome {
    case .damaged: feed(pipeline, .damaged(sequence: sequence, reason: "bytes"))
    case .unreadable: feed(pipeline, .unreadable(sequence: sequence, reason: "EIO"))
    case .secretMissing:
      feed(pipeline, .verdict(number: number, DeliveryVerdict(.needsAttention, message: "secret")))
    case .ready:
      let isUsable =
        pipeline.worker.map { !$0.isLeaving } ?? (isForNewWorker && pipeline.generation == generation)
      guard isUsable else { return feed(pipeline, .handedBack) }
      if machine.isCancelWanted { return feed(pipeline, .verdict(number: number, DeliveryVerdict(.cancelled))) }
      if pipeline.worker == nil {
        if !isQuiet && chance.happens(character.diskErrors / 4) {
          act(on: places.ended(pipeline.id))
          return feed(pipeline, .notStarted(reason: "EAGAIN"))
        }
        pipeline.worker = SimulatedWorker(idleSince: now)
      }
      if pipeline.worker?.flight != nil {
        oracle.note(.overlapped(pipeline: pipeline.index))
        violated(pipeline, "a worker gets a second delivery")
      }
      trace("\(pipeline.id) worker: \(sequence).\(part)")
      pipeline.worker?.flight = SimulatedFlight(number: number, artifact: artifact, part: part)
    }
  }

  /// A worker or its receiver does something; false when none has anything to do.
  func progressFlight() throws -> Bool {
    let busy = pipelines.filter { pipeline in
      pipeline.worker.map { $0.flight != nil || ($0.isLeaving && !pipeline.isHandingOver) } ?? false
    }
    guard let pipeline = chance.pick(busy), let flight = pipeline.worker?.flight else {
      if let pipeline = busy.first(where: { $0.worker?.flight == nil }) {
        workerEnded(pipeline)
        return true
      }
      return false
    }
    if let artifact = flight.artifact {
      progress(pipeline, flight, artifact)
    } else if flight.isCancelled || (!isQuiet && chance.happens(character.workersDie)) {
      workerEnded(pipeline)
    } else {
      pipeline.worker?.flight = nil
      endTest(pipeline, passed: isQuiet || !chance.happens(character.receiverAttention * 3))
    }
    return true
  }

  private func progress(_ pipeline: SimulatedPipeline, _ flight: SimulatedFlight, _ artifact: SimulatedArtifact) {
    if flight.isCancelled && chance.happens(350) {
      return chance.happens(500)
        ? workerEnded(pipeline)
        : answer(pipeline, flight, DeliveryVerdict(.cancelled, maybeDelivered: flight.isReceived))
    }
    if !isQuiet && chance.happens(character.workersDie) { return workerEnded(pipeline) }
    if !isQuiet && chance.happens(character.workersLie) { return lie(pipeline, flight) }
    if flight.isReceived {
      if !isQuiet && chance.happens(character.answersLost) {
        return answer(pipeline, flight, DeliveryVerdict(.retry, maybeDelivered: true, message: "answer lost"))
      }
      return answer(pipeline, flight, DeliveryVerdict(.delivered))
    }
    if artifact.isPoison { return answer(pipeline, flight, DeliveryVerdict(.refused)) }
    if !isQuiet {
      if chance.happens(character.receiverBusy) {
        return answer(
          pipeline, flight,
          DeliveryVerdict(.retry, status: 503, retryAfterMilliseconds: retryAfter(), message: "busy"))
      }
      if chance.happens(character.receiverRefuses) { return answer(pipeline, flight, DeliveryVerdict(.refused)) }
      if chance.happens(character.receiverAttention) {
        return answer(pipeline, flight, DeliveryVerdict(.needsAttention, status: 401))
      }
    }
    receive(pipeline, artifact, flight.part)
    pipeline.worker?.flight?.isReceived = true
  }

  /// Also what no receiver in its right mind asks for.
  private func retryAfter() -> UInt64 {
    switch chance.below(10) {
    case 0..<5: 0
    case 5..<8: UInt64(chance.between(1, 3_600_000))
    case 8: UInt64(chance.between(3_600_000, 200_000_000))
    default: .max
    }
  }

  func receive(_ pipeline: SimulatedPipeline, _ artifact: SimulatedArtifact, _ part: UInt32) {
    trace("\(pipeline.id) RECEIVED artifact \(artifact.number) part \(part)")
    deliveryCount += 1
    let index = Int(part) - 1
    guard artifact.received.indices.contains(index) else {
      return violated(pipeline, "a part that isn't there is sent")
    }
    artifact.received[index] += 1
    oracle.note(
      .received(
        ProofItem(pipeline: pipeline.index, artifact: artifact.number, part: Int(part)),
        identity: artifact.openIdentities[index], digest: "\(artifact.number).\(part)", accepted: true))
  }

  private func answer(_ pipeline: SimulatedPipeline, _ flight: SimulatedFlight, _ verdict: DeliveryVerdict) {
    pipeline.worker?.flight = nil
    pipeline.worker?.idleSince = now
    if flight.isReceived && verdict.code != .delivered { broke(pipeline) }
    feed(pipeline, .verdict(number: flight.number, verdict))
    // A worker that says it twice, or comes back to an old one.
    if !isQuiet && chance.happens(character.workersLie) {
      feed(pipeline, .verdict(number: flight.number, DeliveryVerdict(chance.happens(500) ? .delivered : verdict.code)))
    }
  }

  private func lie(_ pipeline: SimulatedPipeline, _ flight: SimulatedFlight) {
    switch chance.below(4) {
    case 0 where !flight.isReceived: answer(pipeline, flight, DeliveryVerdict(.cancelled, message: "nobody asked"))
    case 1: answer(pipeline, flight, DeliveryVerdict(.none, message: "nonsense"))
    case 2:
      // About an older delivery, or one that never was.
      feed(
        pipeline,
        .verdict(number: flight.number &- UInt64(1 + chance.below(3)), DeliveryVerdict(.delivered, message: "old")))
    default: feed(pipeline, .verdict(number: flight.number &+ 1, DeliveryVerdict(.refused, message: "not yet")))
    }
  }
}
