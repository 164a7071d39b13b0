// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelaySystem
import TargetABI

/// Asks a destination whether a pipeline's settings work, by the target's own check, in a worker that is thrown away.
package struct TargetCheck: Sendable {
  /// The longest that a check may take, in milliseconds.
  package static let patience: Int64 = 60_000

  private let host: WorkerHost

  package init(host: WorkerHost) { self.host = host }

  /// Checks one pipeline; `then` is called once, on the loop's thread. nil: this target can't check.
  ///
  /// - Parameter secrets: path and value of each secret setting.
  package func run(
    _ pipeline: PipelineConfiguration, _ target: UsableTarget, secrets: [SecretEntry],
    then: @escaping @Sendable (DeliveryVerdict?) -> Void
  ) {
    let conversation = CheckConversation(then)
    host.assumeIsolated { host in
      do {
        let (cancelRead, cancelWrite) = try UnixSocket.pipe()
        conversation.cancel = cancelWrite
        let number = try host.start(usesRuntime: target.isShipped) { conversation.take($0) }
        let (loop, key) = (host.loop, TimerKey("check \(number)", "patience"))
        conversation.end = { [weak host] in
          loop.setTimer(key, at: nil)
          host?.assumeIsolated { host in try? host.send(number, .leave) }
        }
        loop.setTimer(key, at: BootTime.now.advanced(milliseconds: Self.patience)) { [weak host] in
          conversation.finish(
            DeliveryVerdict(
              .retry, reason: RELAY_REASON_TIMEOUT, message: "No answer within \(Self.patience / 1000) s."))
          host?.assumeIsolated { host in host.signal(number, .kill) }
        }
        try host.send(
          number,
          .load(path: target.copy, pipelineID: pipeline.id, limits: WorkerLimits(memory: 4 << 30, openFiles: 256)))
        let settings = pipeline.load.settings
        try host.send(
          number,
          .open(settings: SettingsTable.entries(settings), secrets: secrets, settingsJSON: settings.json))
        try host.send(number, .check, request: 1, descriptors: [cancelRead])
      } catch {
        conversation.finish(DeliveryVerdict(.retry, message: "No worker could be started: \(error.words)"))
      }
    }
  }
}

/// What was said so far; used on the loop's thread alone.
private final class CheckConversation: @unchecked Sendable {
  // Unchecked: every call comes from the loop's thread, where worker events and timers are delivered.
  private var then: (@Sendable (DeliveryVerdict?) -> Void)?
  private var hasCheck = true
  var end: @Sendable () -> Void = {}
  /// Held open: closing it would ask the target to stop.
  var cancel: Descriptor?

  init(_ then: @escaping @Sendable (DeliveryVerdict?) -> Void) { self.then = then }

  func take(_ event: WorkerEvent) {
    switch event {
    case .line: break
    case .ended(let end, let problem):
      let words = problem.map { "broke the protocol of its worker: \($0)" } ?? end.words
      finish(DeliveryVerdict(.none, message: "The target \(words)."))
    case .frame(let frame):
      switch frame.message {
      case .loaded(_, let offersCheck, _): hasCheck = offersCheck
      case .loadFailed(_, let text): finish(DeliveryVerdict(.needsAttention, message: PrintableText.cleaned(text)))
      case .opened(let code, let verdict):
        if let failure = DeliveryEngine.failure(ofOpening: verdict, returnCode: code) {
          finish(failure)
        } else if !hasCheck {
          finish(nil)
        }
      case .result(_, let code, let verdict, _): finish(DeliveryEngine.verdict(of: verdict, returnCode: code))
      default: break
      }
    }
  }

  func finish(_ verdict: DeliveryVerdict?) {
    guard let then else { return }
    self.then = nil
    end()
    then(verdict)
  }
}
