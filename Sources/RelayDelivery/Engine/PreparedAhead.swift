// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayQueue
import RelaySystem

/// What comes after what is on its way: opened and checked meanwhile, so that the receiver needn't wait for that.
struct PreparedAhead: Sendable {
  var artifact: QueuedArtifact
  var part: UInt32
  var ready: PreparedPart
  var preparedAt: BootTime

  /// Milliseconds for which what was found out counts: as if the disk had been that slow.
  static let lifetime: Int64 = 1_000
}

/// What else a part needs, besides being open, to be handed to a worker: as things are when it is ordered.
struct PreparationOrder: Sendable {
  private let configuration: PipelineConfiguration
  private let services: EngineServices
  private let isForNewWorker: Bool
  private let generation: UInt64
  private let opening: @Sendable (inout PreparedPart) -> Void

  init(
    _ runtime: PipelineRuntime, _ services: EngineServices, opening: @escaping @Sendable (inout PreparedPart) -> Void
  ) {
    configuration = runtime.configuration
    self.services = services
    isForNewWorker = runtime.worker == nil
    generation = runtime.generation
    self.opening = opening
  }

  /// Adds it to a part that is open; blocking.
  func complete(_ preparation: PartPreparation, _ artifact: QueuedArtifact, _ part: Int) -> PartPreparation {
    guard case .ready(var prepared) = preparation else { return preparation }
    do throws(SecretProblem) {
      for secret in isForNewWorker ? configuration.load.settings.secrets : [] {
        prepared.secrets.append(SecretEntry(path: secret.path, value: try services.secret(secret.name)))
      }
      opening(&prepared)
      prepared.isForNewWorker = isForNewWorker
      prepared.generation = generation
      prepared.rendered = try services.renderLate(configuration, artifact.manifest, part)
      return .ready(prepared)
    } catch {
      return .needsAttention(error)
    }
  }
}

extension DeliveryEngine {
  /// Opens what comes after a part while that is on its way, where nothing but its answer is waited for.
  func prepareAhead(of artifact: QueuedArtifact, _ part: Int, _ runtime: PipelineRuntime) {
    runtime.ahead = nil
    guard let folder = runtime.folder, runtime.configuration.delivery.spacing == 0, runtime.worker?.isLeaving == false
    else { return }
    let queue = runtime.machine.queue
    let isLast = part >= artifact.manifest.parts.count
    guard let sequence = isLast ? queue.all.dropFirst().first : artifact.sequence, queue.first == artifact.sequence
    else {
      return
    }
    let next = isLast ? 1 : part + 1
    let unit = unit(for: sequence, runtime)
    let order = PreparationOrder(runtime, services, opening: opening(for: runtime))
    let (id, loop) = (runtime.id, loop)
    runtime.disk.run { [weak self] in
      // What is wrong with it is told when it is its turn.
      guard let artifact = isLast ? try? folder.openArtifact(sequence) : artifact,
        !artifact.manifest.isBundled(for: unit),
        case .ready(let ready) = order.complete(PreparedPart.open(artifact, part: next), artifact, next)
      else { return }
      let ahead = PreparedAhead(
        artifact: artifact, part: UInt32(clamping: next), ready: ready, preparedAt: BootTime.now)
      loop.post { [weak self] in self?.assumeIsolated { $0.runtimes[id]?.ahead = ahead } }
    }
  }

  /// What was prepared for a part, if it still fits the worker that is there.
  func takeAhead(_ runtime: PipelineRuntime, _ sequence: UInt64, _ part: UInt32) -> PreparedPart? {
    guard let ahead = runtime.ahead else { return nil }
    runtime.ahead = nil
    guard ahead.artifact.sequence == sequence, ahead.part == part, ahead.ready.generation == runtime.generation,
      !ahead.ready.isWorkerStale, runtime.worker?.isLeaving == false,
      BootTime.now.milliseconds(since: ahead.preparedAt) < PreparedAhead.lifetime
    else { return nil }
    return ahead.ready
  }
}
