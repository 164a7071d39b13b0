// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayQueue
import RelaySystem
import Synchronization

/// Why the last decision about a pipeline isn't on the disk; nil when it is.
final class SavingProblem: Sendable {
  let words = Mutex<String?>(nil)
}

/// All that the engine holds of one pipeline; belongs to the engine's thread.
final class PipelineRuntime {
  let id: String
  var configuration: PipelineConfiguration
  var target: UsableTarget?
  /// Why its target may not run on this kernel.
  var confinementProblem: String?
  var machine: DeliveryMachine
  /// Its work on the disk, in order.
  let disk: SerialWork
  /// nil until its folder has been opened.
  var folder: PipelineFolder?
  var targetState: TargetState?
  /// The artifact at the head, when it is open.
  var artifact: QueuedArtifact?
  /// What comes after what is on its way.
  var ahead: PreparedAhead?
  /// While an artifact is opened, which takes long where a bundle is made.
  var bundling: Bundling?
  let savingProblem = SavingProblem()
  var worker: RunningWorker?
  /// Whether a part is being opened that the worker gets next: until then it must not go.
  var isHandingOver = false
  /// Events that came while another was being handled.
  var events: [DeliveryEvent] = []
  var isHandling = false
  var lastSuccess: WallTime?
  var lastVerdict: DeliveryRecord?
  /// How long the last delivery took.
  var lastMilliseconds: Int64 = 0
  /// Who waits for a test's answer.
  var testWaiters: [@Sendable (DeliveryVerdict) -> Void] = []
  /// Gone from the configuration, or being removed: what is in flight may end, then the runtime goes.
  var isRetired = false
  var whenIdle: [@Sendable () -> Void] = []
  /// Who waits until its folder has been opened, or couldn't be.
  var loadWaiters: [@Sendable () -> Void] = []
  /// Answers to a target's check that are being made from the state: until they are, nobody else may open it.
  var checksUnderWay = 0
  /// Who waits until an artifact has left the queue.
  var departureWaiters: [UInt64: [@Sendable (String?) -> Void]] = [:]
  /// Grows when a worker is to be opened anew: what was prepared before then isn't sent.
  var generation: UInt64 = 0

  init(_ configuration: PipelineConfiguration, disk: SerialWork) {
    id = configuration.id
    self.configuration = configuration
    self.disk = disk
    machine = DeliveryMachine(rules: DeliveryRules(configuration, isIdempotent: false))
  }
}

extension DeliveryRules {
  init(_ configuration: PipelineConfiguration, isIdempotent: Bool) {
    let delivery = configuration.delivery
    self.init(
      spacing: delivery.spacing, retryFirst: delivery.retryFirst, retryMost: delivery.retryMax,
      onUnsure: delivery.onUnsure == .hold ? .hold : .retry, isIdempotent: isIdempotent,
      fingerprint: configuration.fingerprint)
  }
}
