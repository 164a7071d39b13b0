// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Synchronization

/// A worker that is started for one question, asked, and thrown away.
struct ThrowawayWorker: Sendable {
  /// What is sent to it, all in one go.
  struct Message: Sendable {
    var message: HostMessage
    var request: UInt64 = 0
    var descriptors: [Descriptor] = []
  }

  let host: WorkerHost
  let bounds: WorkerBounds
  /// Whether it is a target that came with the program.
  var usesRuntime: Bool
  /// The longest that it may take, in milliseconds.
  var patience: Int64

  /// Answers what the target asks meanwhile; called on the loop's thread, and so must be the answer.
  var requests: @Sendable (WorkerMessage, @escaping @Sendable (TargetAnswer) -> Void) -> Void = { _, _ in }

  /// Told what the target tries and may not.
  var denied: @Sendable (_ attempt: DeniedAttempt, _ times: Int) -> Void = { _, _ in }

  /// Asks, and calls `then` once on the loop's thread.
  ///
  /// - Parameters:
  ///   - state: what `answer` remembers between events.
  ///   - answer: makes the answer of an event, or nil to wait for more; asked until it gives one, at the latest when the
  ///     worker has ended.
  ///   - failed: the answer when it took too long or no worker could be started, in words; only the latter is the machine's
  ///     matter and may pass by itself.
  func ask<State: Sendable, Answer: Sendable>(
    _ messages: [Message], state: State, answer: @escaping @Sendable (inout State, WorkerEvent) -> Answer?,
    failed: @escaping @Sendable (_ words: String, _ mayPass: Bool) -> Answer, then: @escaping @Sendable (Answer) -> Void
  ) {
    let conversation = Conversation(state, then)
    let (patience, requests, denied) = (patience, requests, denied)
    host.assumeIsolated { host in
      do {
        let number = try host.start(usesRuntime: usesRuntime, bounds) { event in
          conversation.take(event, answer)
          switch event {
          case .frame(let frame) where frame.message.isRequest: conversation.request(frame)
          case .denied(let attempt, let times): denied(attempt, times)
          default: break
          }
        }
        conversation.whenRequested { [weak host] frame in
          requests(frame.message) { [weak host] answer in
            host?.assumeIsolated { host in
              try? host.send(number, answer.message, request: frame.requestID, descriptors: answer.descriptors)
            }
          }
        }
        let (loop, key) = (host.loop, TimerKey("worker \(number)", "patience"))
        conversation.whenDone { [weak host] in
          loop.setTimer(key, at: nil)
          host?.assumeIsolated { host in try? host.send(number, .leave) }
        }
        loop.setTimer(key, at: BootTime.now.advanced(milliseconds: patience)) { [weak host] in
          conversation.finish(failed("It took longer than \(patience / 1000) s.", false))
          host?.assumeIsolated { host in host.signal(number, .kill) }
        }
        for message in messages {
          try host.send(number, message.message, request: message.request, descriptors: message.descriptors)
        }
      } catch {
        conversation.finish(failed("No worker could be started: \(error.words)", true))
      }
    }
  }
}

/// What was said so far.
private final class Conversation<State: Sendable, Answer: Sendable>: Sendable {
  private struct Inner {
    var state: State
    var then: (@Sendable (Answer) -> Void)?
    var done: @Sendable () -> Void = {}
    var request: @Sendable (WorkerFrame) -> Void = { _ in }
  }
  private let inner: Mutex<Inner>

  init(_ state: State, _ then: @escaping @Sendable (Answer) -> Void) {
    inner = Mutex(Inner(state: state, then: then))
  }

  func whenRequested(_ request: @escaping @Sendable (WorkerFrame) -> Void) { inner.withLock { $0.request = request } }

  /// Passes on what the target asks, as long as the conversation lasts.
  func request(_ frame: WorkerFrame) {
    inner.withLock { $0.then == nil ? nil : $0.request }?(frame)
  }

  func whenDone(_ done: @escaping @Sendable () -> Void) { inner.withLock { $0.done = done } }

  func take(_ event: WorkerEvent, _ answer: (inout State, WorkerEvent) -> Answer?) {
    if let found = inner.withLock({ $0.then == nil ? nil : answer(&$0.state, event) }) { finish(found) }
  }

  func finish(_ answer: Answer) {
    let (then, done) = inner.withLock { inner in
      defer { inner.then = nil }
      return (inner.then, inner.done)
    }
    guard let then else { return }
    done()
    then(answer)
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
