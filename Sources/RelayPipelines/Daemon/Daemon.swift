// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization

/// The running program: one event loop on the main thread, and all that belongs to it.
package actor Daemon {
  nonisolated let loop: EventLoop
  nonisolated package var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let state: StateFolder
  nonisolated let log: ProgramLog
  nonisolated let secrets: SecretKeeper
  nonisolated let file: ConfigurationFile
  nonisolated let threads: WorkThreads
  nonisolated let host: WorkerHost
  nonisolated let engine: DeliveryEngine
  nonisolated let discovery: TargetDiscovery
  nonisolated let layout: ProgramLayout
  /// The filters of system calls for all workers.
  nonisolated let filter: CallFilter
  /// What control threads work with; replaced whole with every reload.
  nonisolated let context: Mutex<UseCases.Context>
  var configuration: Configuration
  var catalogue = TargetCatalogue()
  /// The bytes that are in force, so that a file that was only touched changes nothing.
  var bytes: [UInt8] = []
  var stamp: FileStatus?
  var reloadProblem: String?
  /// Which of the file's mistakes is the first.
  var reloadCode: DiagnosticCode?
  var isReading = false
  var isReadWanted = false
  var isForced = false
  var rereadWaiters: [@Sendable (Refusal?) -> Void] = []
  var isReady = false
  var isStopping = false
  var control: ControlServer?
  var signals: SignalWatch
  var watch: FolderWatch?
  /// When something was first seen to happen beside the configuration file since it was last read.
  var firstHint: BootTime?
  var isStatusDue = false
  var inboxes: [String: InboxRuntime] = [:]
  /// Pipelines whose inbox is being looked through, perhaps still as a former configuration had it.
  var inboxesLooking: Set<String> = []
  /// Destinations that a reload wants asked, and how many are being asked.
  var checksWanted: [PipelineConfiguration] = []
  var checksRunning = 0
  var inboxWatch: InboxWatch?
  /// How the program is to end.
  nonisolated let exit = Mutex<Outcome>(.done)

  /// How often the configuration file is looked at without a hint, in milliseconds.
  static let filePause: Int64 = 30_000

  /// Runs the daemon on this thread until a signal ends it.
  ///
  /// - Returns: how the program is to end.
  package static func run(_ file: ConfigurationFile, log: ProgramLog) -> Outcome {
    do throws(Refusal) {
      let daemon = try Daemon(file, log)
      daemon.loop.post { daemon.assumeIsolated { $0.begin() } }
      daemon.loop.run()
      log.flush()
      return daemon.exit.withLock { $0 }
    } catch {
      var entry = LogEntry(.error, error.message, ["code": error.code.rawValue])
      if let hint = error.hint { entry.fields.append(.init(name: "hint", value: hint)) }
      log.log(entry)
      return error.outcome
    }
  }

  /// Where the copies of targets are, and what they said of themselves.
  static func targetStore(inStateFolder state: String) -> String { state + "/targets" }

  private init(_ file: ConfigurationFile, _ log: ProgramLog) throws(Refusal) {
    self.file = file
    self.log = log
    layout = .ofProcess()
    filter = layout.launcher.madeFilter(.ofThisMachine)
    bytes = try file.bytes()
    stamp = file.stamp()
    let (first, problems) = file.read(bytes, targets: [])
    guard let first else {
      throw Self.refusal(file, Self.allProblems(file, bytes, problems), log)
    }
    configuration = first
    ProcessTimeZone.adopt(first)
    // Before any thread is started, so that no thread takes a signal.
    do { signals = try SignalWatch([SIGTERM, SIGINT, SIGHUP]) } catch { throw Refusal(error) }
    state = try Self.openState(first.state)
    secrets = SecretKeeper(stateFolder: first.state, log: log)
    context = Mutex(UseCases.Context(configuration: first, state: state))
    do throws(SystemError) {
      ServiceManager.raiseDescriptorLimit()
      ProcessTree.adoptOrphans()
      loop = try EventLoop()
      threads = try WorkThreads("disk", count: 16)
    } catch {
      throw Refusal(error)
    }
    host = WorkerHost(loop: loop, launcher: layout.launcher)
    discovery = TargetDiscovery(
      host: host, threads: threads, store: Self.targetStore(inStateFolder: state.path), hostVersion: UseCases.version,
      surroundings: layout.surroundings(first, filter), log: log)
    let (keeper, bell) = (secrets, Bell())
    engine = DeliveryEngine(
      host: host, state: state, threads: threads,
      services: EngineServices(keeper, log: log) { _ in bell.ring() })
    log.setBlanking { keeper.blank($0) }
    bell.onRing { [weak self] in
      self?.assumeIsolated { me in
        me.takeUpFullInboxes()
        me.statusChanged()
      }
    }
  }

  /// How long the answers to commands may take when the program stops, in milliseconds.
  static let answerPatience: Int64 = 15_000
  /// How long a command that works on the state folder, or a daemon that stops, is waited for, in milliseconds.
  static let statePatience: Int64 = 10_000

  /// Takes the state folder. Held by somebody else it is waited for, unless a daemon answers there.
  private static func openState(_ path: String) throws(Refusal) -> StateFolder {
    let deadline = BootTime.now.advanced(milliseconds: statePatience)
    while true {
      do throws(StateError) {
        return try StateFolder.open(path)
      } catch {
        guard case .inUse = error, BootTime.now < deadline,
          (try? ControlClient(stateFolder: path)).flatMap({ $0 }) == nil
        else { throw Refusal(error) }
      }
      usleep(20_000)
    }
  }

  /// Every mistake of a file, those in the settings of targets among them: as many as `check` counts.
  private static func allProblems(
    _ file: ConfigurationFile, _ bytes: [UInt8], _ withoutTargets: [Diagnostic]
  ) -> [Diagnostic] {
    // Where nobody can look for targets, none of them can be missed.
    guard let workshop = try? Workshop(for: file) else {
      return withoutTargets.filter { $0.code != .configUnknownTarget }
    }
    let targets = workshop.targets(in: (try? file.places().targets) ?? [])
    return file.read(bytes, targets: targets.manifests).1
  }

  /// Writes what is wrong with a configuration to the log and makes one refusal of it.
  static func refusal(_ file: ConfigurationFile, _ problems: [Diagnostic], _ log: any LogSink) -> Refusal {
    let errors = problems.filter { $0.severity == .error }
    for problem in errors { log.log(LogEntry(.error, problem.headline)) }
    return Refusal(
      .usage, errors.first?.code ?? .commandUsage,
      "\(file.path) has \(ConfigurationFile.count(errors)); see the lines above.",
      hint: "`relay-host check --config \(file.path)` shows them with their places")
  }

  private func begin() {
    do throws(SystemError) {
      try loop.watch(signals.descriptor, for: .readable) { [weak self] _ in self?.assumeIsolated { $0.signalled() } }
    } catch {
      return end(.fault, "Signals can't be watched: \(error.message).")
    }
    let folders = folders(of: configuration)
    discovery.assumeIsolated { discovery in
      discovery.start(folders) { [weak self] catalogue in
        self?.assumeIsolated { $0.targetsChanged(catalogue) }
      }
      discovery.scan { [weak self] catalogue in self?.assumeIsolated { $0.targetsFound(catalogue) } }
    }
  }

  nonisolated func folders(of configuration: Configuration) -> [TargetDiscovery.Folder] {
    [.init(path: layout.targets, isShipped: true)] + configuration.targets.map { .init(path: $0, isShipped: false) }
  }

  /// The first look through the targets folders is done: now the configuration can be checked whole.
  private func targetsFound(_ found: TargetCatalogue) {
    guard !isReady, !isStopping else { return }
    catalogue = found
    let (checked, problems) = file.read(bytes, targets: found.manifests)
    guard let checked else {
      let refusal = Self.refusal(file, problems, log)
      return end(refusal.outcome, refusal.message)
    }
    for problem in problems { log.log(LogEntry(.warning, problem.headline)) }
    isReady = true
    put(checked)
    do throws(SystemError) {
      let server = try ControlServer(in: state.root, loop: loop, log: log) { [weak self] request, files in
        guard let self else { return ControlReply(Refusal(.unreachable, .controlUnreachable, "The daemon stops.")) }
        return self.answer(request, files)
      }
      try server.start()
      control = server
    } catch {
      return end(.fault, "The control socket can't be opened: \(error.message).")
    }
    watchFile()
    log.log(
      LogEntry(
        .notice, "Relay Host is ready.",
        [
          "version": UseCases.version, "config": file.path, "state": state.path,
          "pipelines": "\(checked.pipelines.count)",
          "targets": found.usable.map(\.manifest.id).joined(separator: ","),
        ]))
    if let warning = layout.surroundings(checked).policy.warning { log.log(LogEntry(.warning, warning)) }
    ServiceManager.notify("READY=1", "STATUS=\(checked.pipelines.count) pipelines")
  }

  private func targetsChanged(_ found: TargetCatalogue) {
    for target in found.found {
      guard case .broken(let reason) = target.state, !catalogue.found.contains(target) else { continue }
      log.log(LogEntry(.warning, "A target can't be used: \(reason)", ["file": target.file]))
    }
    for usable in found.usable where catalogue[usable.manifest.id] != usable {
      log.log(
        LogEntry(
          .info, "Target \(usable.manifest.id) is ready.", ["file": usable.file, "version": usable.manifest.version]))
    }
    catalogue = found
    // What a target says of its settings may have changed with it.
    if isReady { reread(force: true) }
  }

  /// Puts a configuration into force.
  func put(_ new: Configuration, problems: [String: String] = [:]) {
    if ProcessTimeZone.name(in: new) != ProcessTimeZone.name(in: configuration) {
      log.log(LogEntry(.warning, "\"timeZone\" has changed; that takes effect at the next start of the program."))
    }
    configuration = new
    let isOtherState =
      new.state != state.path && PathRules.resolvingLinks(new.state) != PathRules.resolvingLinks(state.path)
    if isOtherState {
      log.log(
        LogEntry(.warning, "\"state\" has changed to \(new.state); that takes effect at the next start of the program.")
      )
    }
    let found = catalogue
    threads.run { [secrets] in secrets.learn(new) }
    context.withLock { context in
      let inboxProblems = context.inboxProblems
      context = UseCases.Context(
        configuration: new, state: state, catalogue: found, engine: engine, reloadProblem: reloadProblem)
      context.inboxProblems = inboxProblems
    }
    let around = layout.surroundings(new, filter)
    discovery.assumeIsolated { $0.setSurroundings(around) }
    engine.assumeIsolated { $0.apply(new, found, around, problems: problems) }
    putInboxes(new)
  }

  // MARK: Signals and the end

  private func signalled() {
    while let signal = signals.next() {
      if signal == SIGHUP {
        log.log(LogEntry(.info, "SIGHUP: reading the configuration again."))
        discovery.assumeIsolated { $0.scan() }
        reread(force: true)
      } else {
        stop()
      }
    }
  }

  private func stop() {
    guard !isStopping else { return }
    isStopping = true
    log.log(LogEntry(.notice, "Stopping: what is in flight may end, nothing new is sent."))
    ServiceManager.notify("STOPPING=1")
    control?.stop()
    inboxes = [:]
    engine.assumeIsolated { engine in
      engine.stop { [weak self] in
        self?.assumeIsolated { $0.endWhenAnswered(by: .now.advanced(milliseconds: Self.answerPatience)) }
      }
    }
  }

  /// Who has asked something gets an answer first.
  private func endWhenAnswered(by deadline: BootTime) {
    guard let control, !control.isIdle, BootTime.now < deadline else { return end(.done, "Relay Host has stopped.") }
    loop.setTimer(TimerKey("control", "end"), at: BootTime.now.advanced(milliseconds: 10)) { [weak self] in
      self?.assumeIsolated { $0.endWhenAnswered(by: deadline) }
    }
  }

  func end(_ outcome: Outcome, _ message: String) {
    log.log(LogEntry(outcome == .done ? .notice : .error, message))
    exit.withLock { $0 = outcome }
    loop.stop()
  }
}

/// Passes a signal on to somebody who is known only later.
private final class Bell: Sendable {
  /// In a struct: a closure that lies in a mutex by itself is wrapped once more by each look at it.
  private struct State { var handler: (@Sendable () -> Void)? }
  private let state = Mutex(State())
  func onRing(_ new: @escaping @Sendable () -> Void) { state.withLock { $0.handler = new } }
  func ring() { state.withLock { $0.handler }?() }
}
