// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem

/// What the engine asks of the rest of the program.
package struct EngineServices: Sendable {
  /// A secret's value by name; blocking. Throws words for people.
  package var secret: @Sendable (_ name: String) throws(SecretProblem) -> String
  /// Settings with templates as a test delivery has them; throws words for people.
  package var renderForTest: @Sendable (PipelineConfiguration) throws(SecretProblem) -> [SettingEntry]
  /// Templates in settings that an artifact's part doesn't hold yet: the same at every attempt. Throws words for people.
  package var renderLate:
    @Sendable (PipelineConfiguration, Manifest, _ part: Int) throws(SecretProblem) -> [SettingEntry]
  /// Blanks the values of secrets in a text.
  package var blank: @Sendable (String) -> String
  package var log: any LogSink
  /// Called on the loop's thread when a pipeline's status may have changed.
  package var changed: @Sendable (_ pipeline: String) -> Void

  package init(
    secret: @escaping @Sendable (String) throws(SecretProblem) -> String,
    renderForTest: @escaping @Sendable (PipelineConfiguration) throws(SecretProblem) -> [SettingEntry],
    renderLate:
      @escaping @Sendable (PipelineConfiguration, Manifest, Int) throws(SecretProblem) -> [SettingEntry],
    blank: @escaping @Sendable (String) -> String, log: any LogSink,
    changed: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.secret = secret
    self.renderForTest = renderForTest
    self.renderLate = renderLate
    self.blank = blank
    self.log = log
    self.changed = changed
  }
}

/// Why something that a delivery needs can't be had before a person acts.
package struct SecretProblem: Error, Equatable, Sendable {
  package var message: String
  /// What the pipeline needs attention for, where the registry of codes knows it.
  package var code: DiagnosticCode?

  package init(message: String, code: DiagnosticCode? = nil) {
    self.message = message
    self.code = code
  }
}

/// Runs the deliveries of all pipelines: feeds their machines with events and does what these decide.
///
/// It lives on one event loop. What blocks on the disk goes to threads, what may crash to worker processes; both come
/// back as events.
package actor DeliveryEngine {
  nonisolated package let loop: EventLoop
  nonisolated package var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  let host: WorkerHost
  let state: StateFolder
  let threads: WorkThreads
  let bundleTurns: BundleTurns
  let services: EngineServices
  var runtimes: [String: PipelineRuntime] = [:]
  /// The pipelines of the configuration in force, and why they can't run.
  private var wanted: [String: (pipeline: PipelineConfiguration, problem: String?)] = [:]
  /// Pipelines whose folder is being deleted: they don't begin before that is over.
  var removing: Set<String> = []
  var places = WorkerPlaces(limit: 64)
  var catalogue = TargetCatalogue()
  /// nil before the first configuration is applied.
  var surroundings: WorkerSurroundings?
  var lastToken: UInt64 = 0
  /// Above all numbers that machines give.
  var lastTestNumber: UInt64 = 1 << 63
  var isStopping = false
  var whenStopped: (@Sendable () -> Void)?

  /// How long a worker without work is kept, in milliseconds.
  static let idleTime: Int64 = 30_000
  /// How long deliveries may go on by themselves when the program stops, in milliseconds.
  static let graceTime: Int64 = 5_000

  package init(host: WorkerHost, state: StateFolder, threads: WorkThreads, services: EngineServices) {
    loop = host.loop
    self.host = host
    self.state = state
    self.threads = threads
    bundleTurns = BundleTurns(spare: threads)
    self.services = services
  }

  /// Puts a configuration and the targets that were found into force; called again whenever one of them changes.
  ///
  /// - Parameters:
  ///   - around: what workers are let into besides what pipelines name.
  ///   - problems: why a pipeline can't run with its settings, by pipeline.
  package func apply(
    _ configuration: Configuration, _ found: TargetCatalogue, _ around: WorkerSurroundings,
    problems: [String: String] = [:]
  ) {
    catalogue = found
    surroundings = around
    act(on: places.setLimit(configuration.workers))
    wanted = [:]
    for pipeline in configuration.pipelines where !pipeline.needsHealthStore {
      wanted[pipeline.id] = (pipeline, problems[pipeline.id])
    }
    for (id, runtime) in runtimes where wanted[id] == nil { retire(runtime) }
    for pipeline in configuration.pipelines where wanted[pipeline.id] != nil {
      if let runtime = runtimes[pipeline.id], !runtime.isRetired {
        update(runtime, pipeline, problems[pipeline.id])
      } else {
        beginIfWanted(pipeline.id)
      }
    }
  }

  /// Begins a pipeline, unless its last delivery from before still runs: then it begins when that is over, as the
  /// configuration is by then, so that there are never two.
  private func beginIfWanted(_ id: String) {
    guard let (pipeline, problem) = wanted[id], runtimes[id] == nil, !removing.contains(id), !isStopping else { return }
    let runtime = PipelineRuntime(pipeline, disk: SerialWork(on: threads))
    runtimes[pipeline.id] = runtime
    update(runtime, pipeline, problem)
    load(runtime)
  }

  private func update(_ runtime: PipelineRuntime, _ pipeline: PipelineConfiguration, _ problem: String?) {
    let old = (runtime.configuration, runtime.target)
    runtime.configuration = pipeline
    runtime.target = catalogue[pipeline.load.targetID]
    let isUnknown = if case .unknown = pipeline.load.target { true } else { false }
    runtime.confinementProblem = runtime.target.flatMap { surroundings?.policy.refusal(isShipped: $0.isShipped) }
    let trouble = problem ?? catalogue.problem(with: pipeline.load.targetID) ?? runtime.confinementProblem
    feed(runtime, .rules(DeliveryRules(pipeline, isIdempotent: runtime.target?.manifest.isIdempotent ?? false)))
    feed(runtime, .pause(byCommand: nil, byConfiguration: pipeline.paused))
    feed(runtime, .target(problem: trouble ?? (isUnknown ? "The configuration is being read again." : nil)))
    if old.1?.manifest.unit != runtime.target?.manifest.unit { feed(runtime, .openAnew) }
    if old.0.fingerprint != pipeline.fingerprint || old.0.load != pipeline.load { feed(runtime, .changed) }
    // A newer shared object is for the next worker; what is under way ends with the old one.
    if old.1?.copy != runtime.target?.copy {
      dismissWorker(runtime)
      // Perhaps mended: what waits is tried with it at once.
      if old.1 != nil && runtime.target != nil { feed(runtime, .tryNow) }
    }
  }

  func retire(_ runtime: PipelineRuntime) {
    guard !runtime.isRetired else { return }
    runtime.isRetired = true
    stopBundling(runtime)
    answerTests(runtime, "The pipeline has left the configuration.")
    answerLoadWaiters(runtime)
    runtime.machine.forgetTimer()
    for purpose in ["next", "load"] { loop.setTimer(TimerKey("pipeline \(runtime.id)", purpose), at: nil) }
    feed(runtime, .stopping)
    dismissWorker(runtime)
    finishIfIdle(runtime)
  }

  /// Tells a pipeline that something happened to it, and does what its machine makes of it.
  func feed(_ runtime: PipelineRuntime, _ event: DeliveryEvent) {
    runtime.events.append(event)
    guard !runtime.isHandling else { return }
    runtime.isHandling = true
    while !runtime.events.isEmpty {
      let next = runtime.events.removeFirst()
      let moment = DeliveryMachine.Moment(boot: .now, wall: .now, chance: .random(in: 0...1))
      for action in runtime.machine.handle(next, at: moment) { perform(action, runtime) }
      tellStaying(runtime, next)
    }
    runtime.isHandling = false
    tellDepartures(runtime)
    services.changed(runtime.id)
    if runtime.isRetired || isStopping { finishIfIdle(runtime) }
  }

  private func tellDepartures(_ runtime: PipelineRuntime) {
    for (sequence, waiting) in runtime.departureWaiters where !runtime.machine.queue.contains(sequence) {
      runtime.departureWaiters[sequence] = nil
      for then in waiting { then(nil) }
    }
  }

  /// Tells those who wait for an artifact to leave why it stays for now.
  private func tellStaying(_ runtime: PipelineRuntime, _ event: DeliveryEvent) {
    switch event {
    case .stopped(let sequence, _, let message), .moveFailed(let sequence, let message):
      for then in runtime.departureWaiters.removeValue(forKey: sequence) ?? [] { then(message) }
    default: break
    }
  }

  /// Nothing more will happen to what is in the queue.
  private func tellNothingLeaves(_ runtime: PipelineRuntime) {
    let left = runtime.departureWaiters
    runtime.departureWaiters = [:]
    let reason = isStopping ? "the program stops." : "the pipeline has left the configuration."
    for then in left.values.joined() { then(reason) }
  }

  func feed(_ id: String, _ event: DeliveryEvent) {
    if let runtime = runtimes[id] { feed(runtime, event) }
  }

  func finishIfIdle(_ runtime: PipelineRuntime) {
    guard !runtime.machine.isBusy, runtime.worker == nil, runtime.checksUnderWay == 0 else { return }
    tellNothingLeaves(runtime)
    if runtime.isRetired, runtimes[runtime.id] === runtime {
      runtimes[runtime.id] = nil
      let waiting = runtime.whenIdle
      runtime.whenIdle = []
      for then in waiting { then() }
      beginIfWanted(runtime.id)
    }
    if isStopping, runtimes.values.allSatisfy({ !$0.machine.isBusy && $0.worker == nil }), let then = whenStopped {
      whenStopped = nil
      then()
    }
  }

  /// Sends nothing new, lets what is in flight end for some seconds before it is cancelled, and calls `then` when no
  /// worker is left.
  package func stop(then: @escaping @Sendable () -> Void) {
    isStopping = true
    whenStopped = then
    for runtime in runtimes.values {
      answerTests(runtime, "The program stops.")
      stopBundling(runtime)
      feed(runtime, .stopping)
      dismissWorker(runtime)
    }
    loop.setTimer(TimerKey("engine", "stop"), at: BootTime.now.advanced(milliseconds: Self.graceTime)) { [weak self] in
      self?.assumeIsolated { me in for runtime in me.runtimes.values { me.feed(runtime, .cancel) } }
    }
    if let any = runtimes.values.first { finishIfIdle(any) } else { finishEmpty() }
  }

  private func finishEmpty() {
    let then = whenStopped
    whenStopped = nil
    then?()
  }
}
