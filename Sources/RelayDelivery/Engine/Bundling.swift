// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayQueue
import RelaySystem

extension DeliveryEngine {
  /// Opens an artifact and, where its parts go as one, puts them into one file: in another thread, so that neither the
  /// pipeline's other work on the disk waits for it, nor a worker's place.
  func open(_ sequence: UInt64, _ runtime: PipelineRuntime) {
    guard let folder = runtime.folder else { return }
    let (id, loop, log) = (runtime.id, loop, services.log)
    let unit = unit(for: sequence, runtime)
    if let artifact = runtime.ahead?.artifact, artifact.sequence == sequence, !artifact.manifest.isBundled(for: unit) {
      return opened(id, sequence, .success(artifact))
    }
    let bundling = Bundling()
    runtime.bundling = bundling
    runtime.disk.run { [weak self, bundleTurns] in
      let then = { @Sendable [weak self] (found: Result<QueuedArtifact, BundleError>) in
        loop.post { [weak self] in self?.assumeIsolated { $0.opened(id, sequence, found) } }
      }
      do throws(BundleError) {
        let artifact: QueuedArtifact
        do throws(ArtifactDamage) { artifact = try folder.openArtifact(sequence) } catch { throw .artifact(error) }
        guard try artifact.needsBundle(for: unit) else { return then(.success(artifact)) }
        bundleTurns.run(bundling, bytes: artifact.manifest.bytesToBundle) {
          then(Result { () throws(BundleError) in try Self.bundle(artifact, id, bundling, log) })
        }
      } catch {
        then(.failure(error))
      }
    }
  }

  func unit(for sequence: UInt64, _ runtime: PipelineRuntime) -> DeliveryUnit {
    let position = runtime.machine.position
    // What has begun to go in parts goes on in parts.
    let isBegun = position.headSequence == sequence && position.headPartsDone > 0
    return !isBegun && runtime.target?.manifest.unit == .artifact ? .artifact : .part
  }

  /// Ends the making of a pipeline's bundle, or what it waits for.
  func stopBundling(_ runtime: PipelineRuntime) {
    guard let bundling = runtime.bundling else { return }
    bundling.stop()
    bundleTurns.giveUp(bundling)
  }

  static func bundle(
    _ artifact: QueuedArtifact, _ id: String, _ bundling: Bundling, _ log: any LogSink
  ) throws(BundleError) -> QueuedArtifact {
    let made = try artifact.makeBundle { bundling.goesOn }
    if let bundle = made.manifest.bundle {
      log.log(
        LogEntry(
          .info, "\(made.manifest.parts.count) parts were put into one file, \(bundle.name).",
          [
            "pipeline": id, "artifact": made.manifest.artifactID.description, "bytes": "\(bundle.stored.size)",
          ]))
    }
    return made
  }

  private func opened(_ id: String, _ sequence: UInt64, _ found: Result<QueuedArtifact, BundleError>) {
    guard let runtime = runtimes[id] else { return }
    runtime.bundling = nil
    switch found {
    case .success(let artifact):
      runtime.artifact = artifact
      let parts = artifact.manifest.bundle == nil ? artifact.manifest.parts.count : 1
      feed(
        runtime,
        .opened(
          HeadArtifact(
            sequence: sequence, artifact: artifact.manifest.artifactID, partCount: UInt32(clamping: parts))))
    case .failure(.artifact(.missing)):
      // One that is gone was removed by somebody: nothing is left to set aside.
      log(.warning, "An artifact has disappeared from the queue folder; the next one goes.", runtime, sequence)
      feed(runtime, .damaged(sequence: sequence, reason: ArtifactDamage.missing.message))
    case .failure(let error) where error.isDamage:
      feed(runtime, .damaged(sequence: sequence, reason: error.message))
    case .failure(let error):
      if error != .stopped {
        log(.warning, "An artifact can't be sent just now: \(error.message). It is tried again.", runtime, sequence)
      }
      feed(runtime, .unreadable(sequence: sequence, reason: error.message))
    }
  }

  /// What was being sent isn't what was accepted: a part belongs to `corrupt/`; a bundle is made again from its parts.
  func contentDamaged(_ runtime: PipelineRuntime) {
    let sequence = runtime.artifact?.sequence ?? 0
    guard let artifact = runtime.artifact, artifact.manifest.bundle != nil else {
      return feed(
        runtime,
        .damaged(sequence: sequence, reason: "its bytes are not those that were accepted (SHA-256 differs)"))
    }
    log(
      .warning, "The bundle of an artifact was damaged on the disk; it is made again from its parts.", runtime, sequence
    )
    runtime.disk.run { artifact.discardBundle() }
    feed(runtime, .unreadable(sequence: sequence, reason: "its bundle is damaged and is made again"))
  }
}
