// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayOracle
import RelayQueue
import RelaySystem

/// What comes from outside: producers, people, the configuration, damage, clocks.
extension Simulation {
  func submit(_ pipeline: SimulatedPipeline) {
    guard isUp, !isStopping, pipeline.isWanted || pipeline.machine != nil else { return }
    artifactCount += 1
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: UInt64(artifactCount) >> UInt64(8 * ($0 % 8))) }
    guard let identifier = Identifier(bytes: bytes) else { return }
    let parts = character.removalsFail ? 1 : UInt32(1 + chance.below(3))
    let artifact = SimulatedArtifact(number: artifactCount, identifier: identifier, partCount: parts)
    artifact.isPoison = !isQuiet && chance.happens(character.receiverRefuses)
    if character.hasManifests { artifact.writeManifest(pipeline.id) }
    pipeline.artifacts.append(artifact)
    oracle.note(
      .handed(
        pipeline: pipeline.index, artifact: artifact.number,
        digests: (1...artifact.partCount).map { "\(artifact.number).\($0)" }))
    commits.append(.publication(pipeline: pipeline.index, artifact: artifact))
    trace("\(pipeline.id) submit artifact \(artifact.number), \(parts) parts")
  }

  func outside() {
    guard let pipeline = chance.pick(pipelines) else { return }
    let roll = chance.below(1000)
    var limit = character.people
    if roll < limit { return person(pipeline) }
    limit += character.configuration
    if roll < limit { return configure(pipeline) }
    limit += character.damage
    if roll < limit { return damage(pipeline) }
    limit += character.clockJumps
    if roll < limit { return jump() }
    limit += 40
    if roll < limit { return passTime() }
    if roll < limit + 20, isUp {
      // A timer that fires for nothing.
      trace("\(pipeline.id) a timer fires early")
      pipeline.timer = nil
      return feed(pipeline, .timer)
    }
    let waiting = pipeline.artifacts.count { $0.sequence != nil }
    if waiting < 6 && artifactCount < 40 && !character.removalsFail { submit(pipeline) }
  }

  private func person(_ some: SimulatedPipeline) {
    // People come when something is under way, too.
    let busy = chance.happens(500) ? pipelines.first { $0.worker?.flight?.artifact != nil } : nil
    let pipeline = busy ?? some
    guard isUp, pipeline.machine != nil else { return }
    switch chance.below(12) {
    case 0: feed(pipeline, .pause(byCommand: true, byConfiguration: nil))
    case 1...3: feed(pipeline, .resume)
    case 4, 5: feed(pipeline, .tryNow)
    case 6, 7:
      let underWay = chance.happens(500) ? pipeline.worker?.flight?.artifact : nil
      guard let artifact = underWay ?? chance.pick(pipeline.artifacts.filter { $0.sequence != nil }),
        let sequence = artifact.sequence, pipeline.machine?.queue.contains(sequence) == true
      else { return }
      feed(pipeline, .drop(sequence: sequence))
    case 8, 9: if pipeline.targetProblem == nil && !isStopping && !pipeline.isRetired { feed(pipeline, .testRequested) }
    case 10: feed(pipeline, .changed)
    default:
      if chance.happens(300) && !isStopping { stop() } else { feed(pipeline, .cancel) }
    }
  }

  private func configure(_ pipeline: SimulatedPipeline) {
    switch chance.below(8) {
    case 0:
      pipeline.settings += 1
      pipeline.rules.fingerprint = String(pipeline.settings)
      pipeline.isSecretMissing = false
      guard pipeline.machine != nil, !pipeline.isRetired else { return }
      feed(pipeline, .rules(pipeline.rules))
      return feed(pipeline, .changed)
    case 1:
      pipeline.rules.spacing = chance.pick([0, 1000, 5000]) ?? 1000
      pipeline.rules.retryFirst = chance.pick([1000, 60_000, 600_000]) ?? 60_000
      pipeline.rules.onUnsure = chance.happens(300) ? .hold : .retry
    case 2: pipeline.isPausedByConfiguration.toggle()
    case 3, 4: pipeline.targetProblem = pipeline.targetProblem == nil ? "there is no such target" : nil
    case 5: pipeline.isSecretMissing.toggle()
    case 6: pipeline.isRefusedFull.toggle()
    default:
      pipeline.isWanted.toggle()
      trace("\(pipeline.id) wanted: \(pipeline.isWanted)")
      if !isUp { return }
      if pipeline.isWanted { return beginIfWanted(pipeline) } else { return retire(pipeline) }
    }
    if pipeline.machine != nil && !pipeline.isRetired { update(pipeline) }
  }

  private func damage(_ pipeline: SimulatedPipeline) {
    let head = chance.happens(500) ? pipeline.machine?.queue.first.flatMap { pipeline.artifact(at: $0) } : nil
    guard let artifact = head ?? chance.pick(pipeline.artifacts.filter { $0.sequence != nil }) else { return }
    switch chance.below(4) {
    case 0:
      trace("\(pipeline.id) artifact \(artifact.number) is damaged")
      artifact.isDamaged = true
    case 1 where !isUp:
      trace("\(pipeline.id) the marks are damaged")
      pipeline.marks.damage()
      excused.insert(pipeline.index)
    default:
      trace("\(pipeline.id) artifact \(artifact.number) can't be read for a while")
      artifact.unreadableUntil = now + chance.between(1, 200_000)
    }
  }

  private func jump() {
    let day: Int64 = 86_400_000
    switch chance.below(6) {
    case 0: wallOffset -= 3 * day
    case 1: wallOffset += 3 * day
    case 2: wallOffset = -now + chance.between(0, day)
    case 3: wallOffset = 2_147_483_647_000 - now + chance.between(-day, day)
    case 4: wallOffset = 1_800_000_000_000
    default: wallOffset += chance.between(-7_200_000, 7_200_000)
    }
    trace("the wall clock jumps by \(wallOffset)")
  }

  // MARK: The end of the process

  /// The process is killed, or the machine loses its power.
  func crash() {
    guard isUp else { return }
    crashCount += 1
    for pipeline in pipelines { broke(pipeline) }
    let isPowerCut = chance.happens(character.powerCuts)
    trace(isPowerCut ? "POWER CUT" : "KILLED")
    for pipeline in pipelines {
      // What was under way may still arrive.
      if let flight = pipeline.worker?.flight, let artifact = flight.artifact, !flight.isReceived, !artifact.isPoison,
        chance.happens(300)
      {
        receive(pipeline, artifact, flight.part)
      }
    }
    hostEnds()
    guard isPowerCut else { return }
    for pipeline in pipelines {
      pipeline.marks.powerCut(&chance)
      pipeline.state.powerCut(&chance)
      for artifact in pipeline.artifacts where !artifact.isCertain {
        let wasForgotten = !artifact.isDirty && artifact.sequence == nil
        artifact.powerCut(&chance)
        // The kernel forgot that it had a folder to write, and said so once: then it can come back out of its turn.
        if wasForgotten && artifact.sequence != nil { excused.insert(pipeline.index) }
      }
      for artifact in pipeline.artifacts where artifact.place == .nowhere && !artifact.isAccepted {
        // Nobody was told that it is there, and it isn't.
        oracle.note(.surfaced(pipeline: pipeline.index, artifact: artifact.number))
      }
      pipeline.artifacts.removeAll { $0.place == .nowhere && !$0.isAccepted && $0.lastSequence != 0 }
    }
    now += chance.between(1000, 100_000)
    switchedOn = now - chance.between(0, 5000)
  }

  func hostEnds() {
    trace("the host has ended")
    isUp = false
    isStopping = false
    stopDeadline = nil
    fuse = nil
    posted = []
    // Artifacts in staging are gone with it.
    for case .publication(let index, let artifact) in commits {
      pipelines[index].artifacts.removeAll { $0 === artifact }
    }
    commits = []
    submissions = []
    for pipeline in pipelines {
      if pipeline.machine?.isMarking == true { broke(pipeline) }
      pipeline.hostDied()
      pipeline.promises.hostDied()
    }
  }
}
