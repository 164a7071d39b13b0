// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem

/// Makes an artifact of files: staged, its settings rendered, and on the disk when it is done. Blocking.
struct ArtifactIntake: Sendable {
  let state: StateFolder
  let pipeline: PipelineConfiguration
  let unit: TargetManifest.Unit

  /// How the parts are kept and sent.
  var encoding: PartEncoding? { pipeline.delivery.compressesGzip ? .gzip : nil }

  /// An artifact that parts can be added to. With an identifier: that of one which may have been delivered before.
  func stage(_ artifact: Identifier?, in folder: PipelineFolder) throws(QueueError) -> StagedArtifact {
    let limits = QueueLimits(
      bytes: pipeline.delivery.maxQueuedBytes, artifacts: Int(clamping: pipeline.delivery.maxQueuedArtifacts))
    return try folder.stage(
      ArtifactDescription(
        artifactID: artifact, unit: unit == .artifact ? .artifact : .part,
        mailDomain: pipeline.messageDomain), limits: limits)
  }

  /// Copies a file in as the next part, as long as it is wanted.
  func add(
    _ file: Descriptor, named name: [UInt8], to artifact: StagedArtifact, while isWanted: () -> Bool
  ) throws(Refusal) {
    do {
      try artifact.addPart(name: name, from: file, encode: encoding, isWanted: isWanted)
    } catch {
      throw Refusal(error)
    }
  }

  /// Renders what the settings take from the files; after this only the commit is left.
  func finish(_ artifact: StagedArtifact) throws(Refusal) {
    let manifest = artifact.manifest
    for part in manifest.parts {
      let context = SettingsTemplates.context(
        pipeline, fileName: part.name, artifact: manifest.artifactID.description, part: part.index,
        of: manifest.parts.count, created: manifest.createdAt)
      artifact.setSettings(try SettingsTemplates.render(pipeline, context), forPart: part.index)
    }
  }

  func commit(_ artifact: StagedArtifact) throws(Refusal) -> CommittedArtifact {
    do { return try artifact.commit() } catch { throw Refusal(error) }
  }
}
