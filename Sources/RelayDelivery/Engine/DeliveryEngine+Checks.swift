// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// What targets ask while they check a destination. The check itself is `TargetCheck`'s; the state is the pipeline's.
extension DeliveryEngine {
  /// Answers from what the pipeline's target saved, for good if it saves something, but there is no delivery of which it could
  /// keep anything. Waits until the pipeline's folder has been opened. `then` is called on the loop's thread.
  package func answerCheck(of id: String, _ message: WorkerMessage, then: @escaping @Sendable (TargetAnswer) -> Void) {
    guard let runtime = runtimes[id], !runtime.isRetired else {
      return Self.give(TargetRequests.answerCheck(message, from: nil, scratch: state.root), then)
    }
    guard let targetState = runtime.targetState else {
      runtime.loadWaiters.append { [weak self] in
        self?.assumeIsolated { me in
          guard me.runtimes[id]?.targetState == nil else { return me.answerCheck(of: id, message, then: then) }
          Self.give(TargetRequests.answerCheck(message, from: nil, scratch: me.state.root), then)
        }
      }
      return
    }
    let (loop, folder, identity) = (loop, runtime.folder?.folder, ObjectIdentifier(runtime))
    runtime.checksUnderWay += 1
    runtime.disk.run { [weak self] in
      let answer = TargetRequests.answerCheck(message, from: targetState, scratch: folder)
      loop.post { [weak self] in
        Self.give(answer, then)
        self?.assumeIsolated { me in
          guard let runtime = me.runtimes[id], ObjectIdentifier(runtime) == identity else { return }
          runtime.checksUnderWay -= 1
          if runtime.isRetired || me.isStopping { me.finishIfIdle(runtime) }
        }
      }
    }
  }

  private static func give(_ answer: TargetAnswer?, _ then: (TargetAnswer) -> Void) {
    if let answer { then(answer) }
  }

  /// The pipeline's folder has been opened, can't be opened, or won't be.
  func answerLoadWaiters(_ runtime: PipelineRuntime) {
    let waiting = runtime.loadWaiters
    runtime.loadWaiters = []
    for then in waiting { then() }
  }
}
