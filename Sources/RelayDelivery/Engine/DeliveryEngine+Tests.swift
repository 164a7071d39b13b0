// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayConfig
import RelayQueue
import RelaySystem
import TargetABI

/// A delivery that a person asks for, with nothing in it, marked as a test.
extension DeliveryEngine {
  /// The name of the file that a test delivers.
  package static let testName = "relay-host.txt"

  /// Delivers a test as soon as nothing else of this pipeline is under way; one that passes ends needs attention.
  package func test(_ id: String, then: @escaping @Sendable (DeliveryVerdict) -> Void) {
    guard let runtime = runtimes[id], runtime.target != nil, runtime.machine.targetProblem == nil else {
      let problem = runtimes[id]?.machine.targetProblem ?? "There is no such pipeline."
      return then(DeliveryVerdict(.needsAttention, message: problem))
    }
    runtime.testWaiters.append(then)
    feed(runtime, .testRequested)
  }

  /// Answers those whose test hasn't begun and won't.
  func answerTests(_ runtime: PipelineRuntime, _ reason: String) {
    guard !runtime.machine.isTesting else { return }
    let waiters = runtime.testWaiters
    runtime.testWaiters = []
    for then in waiters { then(DeliveryVerdict(.cancelled, message: reason)) }
  }

  func beginTest(_ runtime: PipelineRuntime) {
    let (id, loop, services, configuration) = (runtime.id, loop, services, runtime.configuration)
    let (isForNewWorker, generation) = (runtime.worker == nil, runtime.generation)
    let secrets = isForNewWorker ? configuration.load.settings.secrets.map { ($0.path, $0.name) } : []
    let opening = opening(for: runtime)
    runtime.isHandingOver = true
    runtime.disk.run { [weak self, state] in
      let made = Result { () throws(SecretProblem) in
        var part = try Self.makeTest(secrets, services, in: state)
        opening(&part)
        part.isForNewWorker = isForNewWorker
        part.generation = generation
        return part
      }
      let overlay = Result { () throws(SecretProblem) in try services.renderForTest(configuration) }
      loop.post { [weak self] in self?.assumeIsolated { $0.sendTest(id, made, overlay) } }
    }
  }

  private static func makeTest(
    _ secrets: [(path: String, name: String)], _ services: EngineServices, in state: StateFolder
  ) throws(SecretProblem) -> PreparedPart {
    var entries: [SecretEntry] = []
    for secret in secrets { entries.append(SecretEntry(path: secret.path, value: try services.secret(secret.name))) }
    do {
      let file = try state.root.unnamedFile()
      return PreparedPart(
        file: file, length: 0, sha256: try SHA256Hasher.digest(of: []), checksum: PartChecksum().value,
        secrets: entries)
    } catch {
      throw SecretProblem(message: "No file could be made for the test: \(error.words)")
    }
  }

  private func sendTest(
    _ id: String, _ made: Result<PreparedPart, SecretProblem>, _ overlay: Result<[SettingEntry], SecretProblem>
  ) {
    guard let runtime = runtimes[id] else { return }
    runtime.isHandingOver = false
    guard runtime.machine.isTesting else { return finishLeaving(runtime) }
    do throws(SecretProblem) {
      let part = try made.get()
      if part.isWorkerStale { dismissWorker(runtime) }
      guard isUsable(part, for: runtime) else {
        finishLeaving(runtime)
        act(on: places.release(id, now: .now))
        // Again, when the worker has gone.
        return act(on: places.request(id, since: .now))
      }
      let entries = try overlay.get()
      let now = WallTime.now
      let artifact = Identifier.timed(at: now).description
      let fields = DeliveryFields(
        length: 0, sha256: part.sha256.bytes, fileName: Self.testName, mediaType: "text/plain", contentEncoding: nil,
        pipelineID: id, pipelineName: runtime.configuration.name, artifactID: artifact,
        deliveryID: Identifier.random().description, messageID: "<\(artifact)@\(runtime.configuration.messageDomain)>",
        partIndex: 1, partCount: 1, attempt: 1, flags: RELAY_IS_TEST, createdUnixMilliseconds: now.milliseconds,
        firstAttemptUnixMilliseconds: now.milliseconds, attributes: [])
      lastTestNumber += 1
      take(off: runtime, lastTestNumber, part, fields, entries, isTest: true)
    } catch {
      endTest(runtime, DeliveryVerdict(.needsAttention, reason: RELAY_REASON_CREDENTIALS, message: error.message))
    }
  }

  func endTest(_ runtime: PipelineRuntime, _ verdict: DeliveryVerdict) {
    let waiters = runtime.testWaiters
    runtime.testWaiters = []
    releasePlace(runtime)
    // Settings may be read anew by the next one.
    dismissWorker(runtime)
    feed(runtime, .testEnded(passed: verdict.code == .delivered))
    for then in waiters { then(verdict) }
  }
}
