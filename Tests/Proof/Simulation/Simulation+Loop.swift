// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// What comes back to the event loop, and time.
extension Simulation {
  /// The loop takes the next thing that was handed to it; false when there is none.
  func handlePosted() throws -> Bool {
    guard !posted.isEmpty else { return false }
    let (index, item) = posted.removeFirst()
    let pipeline = pipelines[index]
    switch item {
    case .event(let event): feed(pipeline, event)
    case .loaded(let runtime, let queue, let remaining): loaded(pipeline, runtime, queue, remaining)
    case .loadFailed(let runtime):
      guard pipeline.machine != nil, pipeline.runtime == runtime else { return true }
      pipeline.machine?.noteDiskProblem("EIO")
      pipeline.loadTimer = now + 30_000
    case .opened(let sequence, let artifact):
      guard let artifact, pipeline.machine != nil else { return true }
      pipeline.openArtifact = artifact
      feed(
        pipeline,
        .opened(
          HeadArtifact(sequence: sequence, artifact: artifact.identifier, partCount: artifact.partCount)))
    case .prepared(let number, let artifact, let part, _, let isForNewWorker, let generation, let outcome):
      prepared(pipeline, number, artifact, part, isForNewWorker, generation, outcome)
    case .announce:
      guard pipeline.isFolderOpen else { return true }
      for sequence in pipeline.books.takeReady() { feed(pipeline, .committed(sequence: sequence)) }
    case .removeFailed(let sequence):
      if character.removalsFail && !isQuiet {
        // It hangs, until the faults are over.
        pipeline.hangingRemovals.append(sequence)
      } else {
        pipeline.removeTimers.append((sequence, now + 30_000))
      }
    case .saveFailed: pipeline.saveTimer = now + 30_000
    }
    return true
  }

  /// Time passes: to the next timer, a little, or the machine sleeps.
  func passTime() {
    let next = nextTimer ?? now + 60_000
    switch chance.below(100) {
    case 0..<60: now = max(now, next + (chance.happens(200) ? chance.between(0, 20_000) : 0))
    case 60..<85: now += chance.between(1, 2000)
    case 85..<97: now += chance.between(1000, 1_800_000)
    default: now += chance.between(3_600_000, 200_000_000)
    }
    fireTimers()
  }

  var nextTimer: Int64? {
    var next: Int64?
    func take(_ moment: Int64?) { if let moment { next = min(next ?? moment, moment) } }
    take(stopDeadline)
    for pipeline in pipelines {
      take(pipeline.timer)
      take(pipeline.loadTimer)
      take(pipeline.saveTimer)
      for entry in pipeline.removeTimers { take(entry.at) }
      if let worker = pipeline.worker, worker.flight == nil { take(worker.idleSince + 30_000) }
    }
    return next
  }

  func fireTimers() {
    guard isUp else { return }
    if let deadline = stopDeadline, deadline <= now {
      stopDeadline = nil
      for pipeline in pipelines { feed(pipeline, .cancel) }
    }
    for pipeline in pipelines where isUp {
      if let timer = pipeline.timer, timer <= now {
        pipeline.timer = nil
        feed(pipeline, .timer)
      }
      if let timer = pipeline.loadTimer, timer <= now {
        pipeline.loadTimer = nil
        pipeline.jobs.append(.load(runtime: pipeline.runtime))
      }
      if let timer = pipeline.saveTimer, timer <= now {
        pipeline.saveTimer = nil
        if let machine = pipeline.machine {
          pipeline.jobs.append(
            .save(SavedState(attention: machine.attention, pausedByCommand: machine.isPausedByCommand)))
        }
      }
      let due = pipeline.removeTimers.filter { $0.at <= now }
      pipeline.removeTimers.removeAll { $0.at <= now }
      for entry in due { pipeline.jobs.append(.remove(entry.sequence)) }
      if let worker = pipeline.worker, worker.flight == nil, worker.idleSince + 30_000 <= now, !worker.isLeaving,
        !pipeline.isHandingOver
      {
        dismissWorker(pipeline)
      }
    }
  }
}
