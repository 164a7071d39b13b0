// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem

extension UseCases {
  /// Takes files as one artifact; on the disk when this returns.
  func submit(
    _ id: String, _ names: [String], _ nextFile: () throws(Refusal) -> Descriptor, _ isAwaited: () -> Bool
  ) throws(Refusal) -> ControlReply {
    let pipeline = try pipeline(id)
    guard case .inbox = pipeline.extract else {
      throw Refusal(
        .usage, .pipelineTakesNoFiles, "Pipeline \(id) reads health data; it takes no files.",
        hint: "hand them to a pipeline with \"extract\": {\"from\": \"inbox\"}")
    }
    guard !names.isEmpty else {
      throw Refusal(.usage, .commandUsage, "No file was named.", hint: "relay-host submit \(id) FILE…")
    }
    guard names.count <= Manifest.mostParts else { throw Refusal(.tooManyParts(limit: Manifest.mostParts)) }
    let intake = intake(pipeline)
    if intake.unit == .artifact && names.count > 1 {
      throw Refusal(
        .usage, .submitUnit,
        "Target \(pipeline.load.targetID) delivers an artifact as one file, and this version can't bundle several yet.",
        hint: "submit one file at a time")
    }
    let folder = try folder(id)
    // A daemon measures its queues once; who is alone does it each time, or the limit in bytes would not hold.
    if context.engine == nil { do { try folder.measure() } catch { throw Refusal(error) } }
    let artifact: StagedArtifact
    do { artifact = try intake.stage(nil, in: folder) } catch { throw Refusal(error) }
    for name in names {
      let file = try nextFile()
      try intake.add(file, named: Array(name.utf8), to: artifact, while: isAwaited)
    }
    try intake.finish(artifact)
    let manifest = artifact.manifest
    let committed = try intake.commit(artifact)
    announce(committed, to: id)
    return ControlReply(
      .object([
        "artifact": .text(committed.artifactID.description), "pipeline": .text(id),
        "sequence": .integer(committed.sequence), "parts": .integer(manifest.parts.count),
        "bytes": .integer(manifest.storedBytes), "daemon": .flag(context.engine != nil),
      ]))
  }

  func intake(_ pipeline: PipelineConfiguration) -> ArtifactIntake {
    ArtifactIntake(
      state: context.state, pipeline: pipeline,
      unit: context.catalogue[pipeline.load.targetID]?.manifest.unit ?? .part)
  }

  /// Tells the engine of a new artifact.
  func announce(_ artifact: CommittedArtifact, to id: String) {
    guard let engine = context.engine else { return }
    engine.loop.post { engine.assumeIsolated { $0.committed(artifact.sequence, to: id) } }
  }
}
