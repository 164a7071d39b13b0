// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayQueue
import RelaySystem

/// Targets for a command that works without the daemon: an event loop of its own and a store that is removed again.
package final class Workshop: Sendable {
  private let loop: EventLoop
  private let host: WorkerHost
  private let discovery: TargetDiscovery
  private let layout: ProgramLayout
  private let store: String
  private let threads: WorkThreads
  private let surroundings: WorkerSurroundings

  /// - Parameter file: says whom workers are and whether they must be confined.
  package init(for file: ConfigurationFile?) throws(Refusal) {
    layout = .ofProcess()
    do throws(SystemError) {
      store = try Directory.makeTemporary()
      surroundings = layout.surroundings(of: file)
      // Workers that run as somebody else load from it.
      if let user = surroundings.identity?.user { try Directory(store).descriptor.give(toUser: user) }
      loop = try EventLoop()
      threads = try WorkThreads("targets", count: 1)
      host = WorkerHost(loop: loop, launcher: layout.launcher)
      discovery = TargetDiscovery(
        host: host, threads: threads, store: store,
        // A target that the daemon has asked before needn't be asked again.
        manifests: (try? file?.places()).map { Daemon.targetStore(inStateFolder: $0.state) },
        hostVersion: UseCases.version,
        surroundings: surroundings, log: NoLog())
      let loop = loop
      try startThread("targets") { loop.run() }
    } catch {
      throw Refusal(error)
    }
  }

  deinit {
    loop.stop()
    try? Directory.removeTree(at: store)
  }

  /// The targets in the program's own folder and the given ones.
  package func targets(in folders: [String]) -> TargetCatalogue {
    let all =
      [TargetDiscovery.Folder(path: layout.targets, isShipped: true)]
      + folders.map { .init(path: $0, isShipped: false) }
    let answer = Reply<TargetCatalogue>()
    let discovery = discovery
    loop.post {
      discovery.assumeIsolated { discovery in
        discovery.start(all) { _ in }
        discovery.scan { answer.set($0) }
      }
    }
    return answer.wait()
  }

  /// Runs use cases with an engine that delivers nothing but tests, for one command without a daemon.
  package func withTestEngine(
    _ context: UseCases.Context, pipeline id: String, _ body: (UseCases) -> ControlReply
  ) throws(Refusal) -> ControlReply {
    let secrets = SecretKeeper(stateFolder: context.configuration.state, log: NoLog())
    let threads: WorkThreads
    do { threads = try WorkThreads("disk", count: 2) } catch { throw Refusal(error) }
    let engine = DeliveryEngine(
      host: host, state: context.state, threads: threads, services: .init(secrets, log: NoLog()))
    var quiet = context.configuration
    quiet.pipelines.removeAll { $0.id != id }
    // What waits in the queue is the daemon's; a test goes out all the same.
    for place in quiet.pipelines.indices { quiet.pipelines[place].paused = true }
    let applied = quiet
    let around = layout.surroundings(context.configuration)
    _ = engine.ask { $0.apply(applied, context.catalogue, around) }
    var withEngine = context
    withEngine.engine = engine
    let reply = body(UseCases(withEngine))
    let stopped = Reply<Void>()
    loop.post { engine.assumeIsolated { $0.stop { stopped.set(()) } } }
    stopped.wait()
    return reply
  }

  /// Asks a pipeline's destination; nil when its target can't check. What the target saves meanwhile is forgotten afterwards.
  package func check(
    _ pipeline: PipelineConfiguration, _ target: UsableTarget, _ secrets: SecretKeeper, stateFolder: String
  ) -> DeliveryVerdict? {
    var values: [SecretEntry] = []
    do throws(SecretProblem) {
      for secret in pipeline.load.settings.secrets {
        values.append(SecretEntry(path: secret.path, value: try secrets.value(secret.name)))
      }
    } catch {
      return DeliveryVerdict(.needsAttention, message: error.message)
    }
    let answer = Reply<DeliveryVerdict?>()
    let saved = BorrowedState(of: pipeline.id, inStateFolder: stateFolder, workplace: store)
    let (threads, loop) = (threads, loop)
    let check = TargetCheck(host: host, surroundings: surroundings, log: NoLog()) { message, then in
      threads.run {
        guard let answer = saved.answer(message) else { return }
        loop.post { then(answer) }
      }
    }
    let (entries, opened) = (values, check.access(for: pipeline, target))
    loop.post { check.run(pipeline, target, opened, secrets: entries) { answer.set($0) } }
    guard var verdict = answer.wait() else { return nil }
    verdict.message = secrets.blank(verdict.message)
    return verdict
  }
}
