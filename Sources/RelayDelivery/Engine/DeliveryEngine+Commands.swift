// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayQueue
import RelaySystem
import Synchronization

/// What other threads ask of the engine.
extension DeliveryEngine {
  /// Runs `body` on the engine's thread and waits for it; not to be called on that thread, nor after its loop stopped.
  nonisolated package func ask<T: Sendable>(_ body: @escaping @Sendable (isolated DeliveryEngine) -> T) -> T? {
    let reply = Reply<T?>()
    loop.post { [weak self] in reply.set(self?.assumeIsolated { body($0) }) }
    return reply.wait()
  }

  /// Something was committed to a pipeline's queue.
  package func committed(_ sequence: UInt64, to id: String) {
    // Before the folder is open it is found by looking, or announced in its turn when the looking is over.
    if let runtime = runtimes[id], runtime.folder != nil { announceReady(runtime) }
  }

  /// Tells the machine what may be delivered, in the order of the sequences and not of the threads that committed them.
  func announceReady(_ runtime: PipelineRuntime) {
    for sequence in runtime.folder?.takeReady() ?? [] { feed(runtime, .committed(sequence: sequence)) }
  }

  package func pause(_ id: String) { feed(id, .pause(byCommand: true, byConfiguration: nil)) }

  package func resume(_ id: String) { feed(id, .resume) }

  /// Calls `then` when what was decided about a pipeline is on the disk, or with what keeps it from there.
  package func whenSaved(_ id: String, then: @escaping @Sendable (String?) -> Void) {
    guard let runtime = runtimes[id] else { return then(nil) }
    guard runtime.folder == nil else { return tellSaved(runtime, then) }
    // Its folder may be being opened: what came of that is known here after the disk was through with it.
    runtime.disk.run { [weak self, loop] in
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          guard let runtime = me.runtimes[id] else { return then(nil) }
          if runtime.folder != nil { return me.tellSaved(runtime, then) }
          then(runtime.machine.diskProblem ?? "its folder isn't open yet")
        }
      }
    }
  }

  private func tellSaved(_ runtime: PipelineRuntime, _ then: @escaping @Sendable (String?) -> Void) {
    runtime.disk.run { [problem = runtime.savingProblem] in then(problem.words.withLock { $0 }) }
  }

  package func tryNow(_ id: String) { feed(id, .tryNow) }

  /// Sets an artifact aside and calls `then` when it has left the queue, in whatever way, or with the reason why it can't.
  package func drop(_ sequence: UInt64, from id: String, then: @escaping @Sendable (String?) -> Void) {
    guard let runtime = runtimes[id], runtime.machine.queue.contains(sequence) else { return then(nil) }
    runtime.departureWaiters[sequence, default: []].append(then)
    if runtime.machine.queue.first == sequence { stopBundling(runtime) }
    feed(runtime, .drop(sequence: sequence))
  }

  /// A secret has another value: workers that were opened with the old one go.
  package func secretChanged(_ name: String) {
    for runtime in runtimes.values
    where runtime.configuration.load.settings.secrets.contains(where: { $0.name == name }) {
      feed(runtime, .changed)
    }
  }

  /// Ends a pipeline's deliveries and calls `then` when nothing of it runs any more. It doesn't begin again before
  /// `removalEnded`, whatever the configuration says meanwhile.
  package func remove(_ id: String, then: @escaping @Sendable () -> Void) {
    removing.insert(id)
    guard let runtime = runtimes[id] else { return then() }
    runtime.whenIdle.append(then)
    feed(runtime, .cancel)
    retire(runtime)
  }

  /// The folder is deleted, or couldn't be: the next configuration that is applied may begin the pipeline again.
  package func removalEnded(_ id: String) { removing.remove(id) }
}
