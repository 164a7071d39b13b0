// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// The faults are over: everything must come right by itself, in bounded time.
extension Simulation {
  /// The longest wait that there is, and a little.
  private static let longestWait: Int64 = 86_400_000 + 3_600_000

  func settle() {
    trace("QUIET")
    isQuiet = true
    fuse = nil
    if isStopping { crash() }
    for pipeline in pipelines {
      pipeline.isWanted = true
      pipeline.isPausedByConfiguration = false
      pipeline.targetProblem = nil
      pipeline.isSecretMissing = false
      pipeline.isRefusedFull = false
      for sequence in pipeline.hangingRemovals { pipeline.removeTimers.append((sequence, now)) }
    }
    if !isUp {
      startHost()
    } else {
      for pipeline in pipelines {
        if pipeline.machine == nil { beginIfWanted(pipeline) } else if !pipeline.isRetired { update(pipeline) }
      }
    }
    runUntilIdle()
    for pipeline in pipelines { judgeRest(pipeline) }
    // Then people do what is asked of them, and a newcomer proves that the way is free.
    for pipeline in pipelines { feed(pipeline, .resume) }
    runUntilIdle()
    for pipeline in pipelines { submit(pipeline) }
    runUntilIdle()
    guard violations.isEmpty else { return }
    for pipeline in pipelines { judgeEnd(pipeline) }
  }

  private func runUntilIdle() {
    let deadline = now + Self.longestWait
    for _ in 0..<20_000 where violations.isEmpty {
      do {
        if try handlePosted() || runJob() || runCommit() || progressFlight() { continue }
      } catch { return }
      guard let next = nextTimer else { return }
      if next > deadline {
        if let late = pipelines.first(where: { $0.timer != nil }) {
          violated(late, "a wait is stretched by \((next - deadline) / 1000) s")
        }
        return
      }
      now = max(now, next)
      fireTimers()
    }
    if let any = pipelines.first, violations.isEmpty { violated(any, "it never comes to rest") }
  }

  /// What nobody holds back must have gone by itself.
  private func judgeRest(_ pipeline: SimulatedPipeline) {
    guard violations.isEmpty, let machine = pipeline.machine, machine.attention == nil, !machine.isPaused else {
      return
    }
    if let first = machine.queue.first { violated(pipeline, "\(first) stays though nothing holds it back") }
  }

  private func judgeEnd(_ pipeline: SimulatedPipeline) {
    guard let machine = pipeline.machine else { return violated(pipeline, "no machine runs") }
    for artifact in pipeline.artifacts {
      switch artifact.place {
      // What recovery couldn't set aside waits there for the next start.
      case .queue(let sequence) where pipeline.leftByRecovery.contains(sequence): break
      case .queue(let sequence):
        violated(
          pipeline,
          "artifact \(artifact.number) stays in the queue as \(sequence) (received \(artifact.received), "
            + "known: \(machine.queue.contains(sequence)), attention: \(machine.attention?.code ?? "none"))")
      case .trash: violated(pipeline, "artifact \(artifact.number) stays in the trash")
      case .refused, .corrupt: break
      case .nowhere:
        if artifact.isAccepted && !artifact.isWhollyReceived {
          violated(pipeline, "artifact \(artifact.number) is gone and was received \(artifact.received)")
        }
      }
    }
    let saved = SavedState(attention: machine.attention, pausedByCommand: machine.isPausedByCommand)
    if pipeline.state.cached != saved {
      violated(pipeline, "pipeline.json says \(pipeline.state.cached), should say \(saved)")
    }
  }
}
