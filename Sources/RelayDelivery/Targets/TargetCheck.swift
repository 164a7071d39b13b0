// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem
import TargetABI

/// Asks a destination whether a pipeline's settings work, by the target's own check, in a worker that is thrown away.
package struct TargetCheck: Sendable {
  /// The longest that a check may take, in milliseconds.
  package static let patience: Int64 = 60_000

  private let host: WorkerHost
  private let surroundings: WorkerSurroundings
  private let requests: Requests
  private let log: any LogSink

  /// Answers what the target asks during its check; called on the loop's thread, and so must be the answer.
  package typealias Requests = @Sendable (WorkerMessage, @escaping @Sendable (TargetAnswer) -> Void) -> Void

  /// - Parameter log: told what the target tries and may not.
  package init(
    host: WorkerHost, surroundings: WorkerSurroundings, log: any LogSink, requests: @escaping Requests
  ) {
    self.host = host
    self.surroundings = surroundings
    self.requests = requests
    self.log = log
  }

  /// What the target is let into for its check. Blocking: not for the loop's thread.
  package func access(for pipeline: PipelineConfiguration, _ target: UsableTarget) -> WorkerAccess {
    surroundings.open(pipeline.access, copy: target.copy, isShipped: target.isShipped)
  }

  /// Checks one pipeline; `then` is called once, on the loop's thread. nil: this target can't check.
  ///
  /// - Parameter secrets: path and value of each secret setting.
  package func run(
    _ pipeline: PipelineConfiguration, _ target: UsableTarget, _ access: WorkerAccess, secrets: [SecretEntry],
    then: @escaping @Sendable (DeliveryVerdict?) -> Void
  ) {
    if let refusal = surroundings.policy.refusal(isShipped: target.isShipped) {
      return then(DeliveryVerdict(.needsAttention, message: refusal))
    }
    if let passing = access.passing { return then(DeliveryVerdict(.retry, message: passing.message)) }
    let cancel: (read: Descriptor, write: Descriptor)
    do { cancel = try UnixSocket.pipe() } catch { return then(DeliveryVerdict(.retry, message: error.message)) }
    let settings = pipeline.load.settings
    var worker = ThrowawayWorker(
      host: host, bounds: surroundings.bounds(of: access, copy: target.copy), usesRuntime: target.isShipped,
      patience: Self.patience)
    worker.requests = requests
    worker.denied = { [log, names = surroundings.filter.names] attempt, times in
      log.log(
        LogEntry(.warning, attempt.words(times: times, names: names), ["pipeline": pipeline.id, "during": "check"]))
    }
    let opened = access.frames.map { ThrowawayWorker.Message(message: $0.message, descriptors: $0.descriptors) }
    worker.ask(
      opened + [
        .init(
          message: .load(
            path: target.copy, pipelineID: pipeline.id, limits: .ofTargets, confinement: access.confinement)),
        .init(
          message: .open(
            settings: SettingsTable.entries(settings), secrets: secrets, settingsJSON: settings.json)),
        .init(message: .check, request: 1, descriptors: [cancel.read]),
      ],
      // Closing the other end would ask the target to stop: it is held open as long as the conversation lasts.
      state: Progress(cancel: cancel.write), answer: Self.answer,
      failed: { words, _ in DeliveryVerdict(.retry, reason: RELAY_REASON_TIMEOUT, message: words) }, then: then)
  }

  private struct Progress: Sendable {
    var cancel: Descriptor
    var hasCheck = true
  }

  /// nil waits for more; an answer of nil says that the target can't check.
  private static let answer: @Sendable (inout Progress, WorkerEvent) -> DeliveryVerdict?? = { progress, event in
    switch event {
    case .line, .denied: return .none
    case .ended(let end, let problem):
      let words = problem.map { "broke the protocol of its worker: \($0)" } ?? end.words
      return DeliveryVerdict(.none, message: "The target \(words).")
    case .frame(let frame):
      switch frame.message {
      case .loaded(_, let offersCheck, _):
        progress.hasCheck = offersCheck
        return .none
      case .loadFailed(.notNow, let text):
        return DeliveryVerdict(.retry, message: "The target \(PrintableText.cleaned(text)).")
      case .loadFailed(_, let text):
        return DeliveryVerdict(.needsAttention, message: "The target \(PrintableText.cleaned(text)).")
      case .opened(let code, let verdict):
        if let failure = DeliveryEngine.failure(ofOpening: verdict, returnCode: code) { return failure }
        return progress.hasCheck ? .none : .some(nil)
      case .result(_, let code, let verdict, _): return DeliveryEngine.verdict(of: verdict, returnCode: code)
      default: return .none
      }
    }
  }
}
