// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// Asks a target for its manifest, in a worker of its own that is thrown away.
struct TargetDescriber: Sendable {
  /// The longest that loading and describing may take, in milliseconds.
  static let patience: Int64 = 10_000

  let host: WorkerHost
  /// What a target that only says what it is may touch.
  var surroundings: WorkerSurroundings
  /// Told what a target tries and may not.
  let log: any LogSink

  struct Reason: Error, Equatable, Sendable {
    var text: String
    /// Whether it says nothing about the file, so that it is asked again.
    var mayPass = false
  }

  /// - Parameters:
  ///   - file: what it was copied from.
  ///   - then: called once on the loop's thread with the manifest's bytes or a reason for people.
  func describe(
    _ copy: String, of file: String, usesRuntime: Bool, then: @escaping @Sendable (Result<[UInt8], Reason>) -> Void
  ) {
    if let refusal = surroundings.policy.refusal(isShipped: usesRuntime) {
      return then(.failure(Reason(text: refusal)))
    }
    // Nothing that a person typed.
    let access = surroundings.open([], copy: copy, isShipped: usesRuntime)
    var worker = ThrowawayWorker(
      host: host, bounds: surroundings.bounds(of: access, copy: copy), usesRuntime: usesRuntime, patience: Self.patience
    )
    worker.denied = { [log, names = surroundings.filter.names] attempt, times in
      log.log(LogEntry(.warning, attempt.words(times: times, names: names), ["file": file]))
    }
    worker.ask(
      [
        .init(message: .load(path: copy, pipelineID: "", limits: .ofDescribing, confinement: access.confinement)),
        .init(message: .describe),
      ],
      state: [UInt8]?.none, answer: Self.answer,
      failed: { .failure(Reason(text: "It can't be described. \($0)", mayPass: $1)) }, then: then)
  }

  private static let answer: @Sendable (inout [UInt8]?, WorkerEvent) -> Result<[UInt8], Reason>? = { manifest, event in
    func failure(_ text: String, mayPass: Bool = false) -> Result<[UInt8], Reason> {
      .failure(Reason(text: PrintableText.cleaned(text), mayPass: mayPass))
    }
    switch event {
    case .line, .denied: return nil
    case .ended(let end, let problem):
      return failure("It died while loading or describing itself: \(problem ?? end.words).")
    case .frame(let frame):
      switch frame.message {
      case .manifest(let bytes):
        manifest = bytes
        return nil
      case .loadFailed(.notNow, let text): return failure("It \(text).", mayPass: true)
      case .loadFailed(let why, let text): return failure(why == .unconfined ? "It \(text)." : text)
      case .described(let code):
        guard code == 0, let manifest else {
          return failure(code == 0 ? "It handed over no manifest." : "Its describe function failed with \(code).")
        }
        return .success(manifest)
      default: return nil
      }
    }
  }
}
