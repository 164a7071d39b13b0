// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Asks a target for its manifest, in a worker of its own that is thrown away.
struct TargetDescriber: Sendable {
  /// The longest that loading and describing may take, in milliseconds.
  static let patience: Int64 = 10_000

  let host: WorkerHost

  /// - Parameter then: called once on the loop's thread with the manifest's bytes or a reason for people.
  func describe(
    _ copy: String, usesRuntime: Bool, then: @escaping @Sendable (Result<[UInt8], Reason>) -> Void
  ) {
    let conversation = Conversation(then)
    host.assumeIsolated { host in
      do {
        let number = try host.start(usesRuntime: usesRuntime) { event in conversation.take(event) }
        let loop = host.loop
        let key = TimerKey("describe \(number)", "patience")
        conversation.end = { [weak host] in
          loop.setTimer(key, at: nil)
          host?.assumeIsolated { host in try? host.send(number, .leave) }
        }
        loop.setTimer(key, at: BootTime.now.advanced(milliseconds: Self.patience)) { [weak host] in
          conversation.fail("It took longer than \(Self.patience / 1000) s to load and describe itself.")
          host?.assumeIsolated { host in host.signal(number, .kill) }
        }
        try host.send(number, .load(path: copy, pipelineID: "", limits: WorkerLimits()))
        try host.send(number, .describe)
      } catch {
        conversation.fail("No worker could be started: \(error.words)")
      }
    }
  }

  struct Reason: Error, Equatable, Sendable {
    var text: String
  }
}

/// What was said so far; used on the loop's thread alone.
private final class Conversation: @unchecked Sendable {
  // Unchecked: every call comes from the loop's thread, where worker events and timers are delivered.
  private var manifest: [UInt8]?
  private var then: (@Sendable (Result<[UInt8], TargetDescriber.Reason>) -> Void)?
  var end: @Sendable () -> Void = {}

  init(_ then: @escaping @Sendable (Result<[UInt8], TargetDescriber.Reason>) -> Void) { self.then = then }

  func take(_ event: WorkerEvent) {
    switch event {
    case .frame(let frame):
      switch frame.message {
      case .manifest(let bytes): manifest = bytes
      case .loadFailed(_, let text): fail(text)
      case .described(let code):
        guard code == 0, let manifest else {
          return fail(code == 0 ? "It handed over no manifest." : "Its describe function failed with \(code).")
        }
        finish(.success(manifest))
      default: break
      }
    case .line: break
    case .ended(let end, let problem): fail("It died while loading or describing itself: \(problem ?? end.words).")
    }
  }

  func fail(_ reason: String) { finish(.failure(.init(text: PrintableText.cleaned(reason)))) }

  private func finish(_ result: Result<[UInt8], TargetDescriber.Reason>) {
    guard let then else { return }
    self.then = nil
    end()
    then(result)
  }
}

extension Error {
  /// What went wrong with a worker, in words.
  var words: String {
    switch self {
    case let error as SystemError: error.message
    case let error as WireError: error.message
    default: "\(self)"
    }
  }
}
