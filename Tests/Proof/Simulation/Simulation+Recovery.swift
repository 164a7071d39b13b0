// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// Opening a pipeline's folder and bringing its queue into order, as `PipelineFolder.recover` does.
extension Simulation {
  func load(_ pipeline: SimulatedPipeline, _ runtime: Int) throws {
    try breathe()
    if diskFails() { return post(pipeline, .loadFailed(runtime: runtime)) }
    // The folder stays open as long as the process lives.
    if !pipeline.isFolderKept {
      if pipeline.marks.open(&chance) {
        trace("\(pipeline.id) the marks were damaged and are begun anew")
        pipeline.promises.forgetMarks()
      }
      pipeline.isFolderKept = true
    }
    if pipeline.state.loaded == nil {
      if diskFails() { return post(pipeline, .loadFailed(runtime: runtime)) }
      pipeline.state.loaded = pipeline.state.cached
    }
    try breathe()
    let failed = diskFails()
    pipeline.synced(!failed)
    if failed { return post(pipeline, .loadFailed(runtime: runtime)) }
    for artifact in pipeline.artifacts where artifact.place == .trash {
      try breathe()
      artifact.isContentGone = true
      artifact.move(to: .nowhere)
    }
    let record = pipeline.marks.slots.newest
    var queue: [UInt64] = []
    pipeline.leftByRecovery = []
    var remaining: Set<UInt64> = []
    for artifact in pipeline.artifacts {
      guard let sequence = artifact.sequence else { continue }
      if sequence > record.completedThrough {
        queue.append(sequence)
      } else if try !settle(artifact, sequence, record, pipeline) {
        remaining.insert(sequence)
        if !record.pendingRemovals.contains(where: { $0.sequence == sequence }) {
          pipeline.leftByRecovery.insert(sequence)
        }
      }
    }
    post(pipeline, .loaded(runtime: runtime, queue: queue.sorted(), remaining: remaining))
  }

  private func settle(
    _ artifact: SimulatedArtifact, _ sequence: UInt64, _ record: MarkRecord, _ pipeline: SimulatedPipeline
  ) throws -> Bool {
    if let pending = record.pendingRemovals.first(where: { $0.sequence == sequence }), !artifact.isDamaged {
      if now < artifact.unreadableUntil && !isQuiet { return false }
      if pending.artifactID == artifact.identifier { return try remove(pipeline, sequence) }
    }
    try breathe()
    if diskFails() { return false }
    trace("\(pipeline.id) recovery sets artifact \(sequence) aside")
    artifact.move(to: .corrupt)
    try breathe()
    let failed = diskFails()
    pipeline.synced(!failed)
    return !failed
  }

  func loaded(_ pipeline: SimulatedPipeline, _ runtime: Int, _ queue: [UInt64], _ remaining: Set<UInt64>) {
    guard pipeline.machine != nil, pipeline.runtime == runtime else { return }
    pipeline.isFolderOpen = true
    var position = pipeline.marks.slots.newest
    position.pendingRemovals.removeAll { !remaining.contains($0.sequence) }
    let saved = pipeline.state.loaded ?? SavedState()
    feed(
      pipeline,
      .loaded(
        queue: queue, position: position, attention: saved.attention, pausedByCommand: saved.pausedByCommand))
    if !character.announcesOutOfOrder {
      for sequence in pipeline.books.takeReady() { feed(pipeline, .committed(sequence: sequence)) }
    }
  }
}
