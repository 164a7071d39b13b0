// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem
import TargetABI

/// Handing a part to a worker and taking its verdict back.
extension DeliveryEngine {
  func act(on decisions: [WorkerPlaces.Decision]) {
    for decision in decisions {
      switch decision {
      case .grant(let id):
        guard let runtime = runtimes[id] else {
          act(on: places.ended(id))
          continue
        }
        if runtime.machine.isTesting { beginTest(runtime) } else { feed(runtime, .placeGranted) }
      case .dismiss(let id): if let runtime = runtimes[id] { dismissWorker(runtime) }
      }
    }
  }

  /// Opens and, where it is small, checks the part before the worker gets it.
  func prepare(_ runtime: PipelineRuntime, number: UInt64, sequence: UInt64, part: UInt32, attempt: UInt32) {
    guard let artifact = runtime.artifact, artifact.sequence == sequence else {
      return feed(runtime, .unreadable(sequence: sequence, reason: "the artifact isn't open"))
    }
    let (id, loop, log) = (runtime.id, loop, services.log)
    if let ready = takeAhead(runtime, sequence, part) {
      return prepared(id, number, artifact, part: part, attempt: attempt, .ready(ready))
    }
    let order = PreparationOrder(runtime, services, opening: opening(for: runtime))
    let bundling = Bundling()
    (runtime.isHandingOver, runtime.bundling) = (true, bundling)
    runtime.disk.run { [weak self] in
      var preparation = PreparedPart.open(artifact, part: Int(part))
      if artifact.manifest.bundle != nil, case .damaged = preparation {
        // The parts are what was accepted; from them comes the same bundle once more.
        preparation = PreparedPart.openAgain(artifact) { () throws(BundleError) in
          try Self.bundle(artifact, id, bundling, log)
        }
      }
      let outcome = order.complete(preparation, artifact, Int(part))
      loop.post { [weak self] in
        self?.assumeIsolated { $0.prepared(id, number, artifact, part: part, attempt: attempt, outcome) }
      }
    }
  }

  private func prepared(
    _ id: String, _ number: UInt64, _ artifact: QueuedArtifact, part: UInt32, attempt: UInt32,
    _ preparation: PartPreparation
  ) {
    guard let runtime = runtimes[id] else { return }
    (runtime.isHandingOver, runtime.bundling) = (false, nil)
    guard runtime.machine.isSending(number) else { return finishLeaving(runtime) }
    runtime.lastMilliseconds = 0
    switch preparation {
    case .damaged(let reason): feed(runtime, .damaged(sequence: artifact.sequence, reason: reason))
    case .unreadable(let reason): feed(runtime, .unreadable(sequence: artifact.sequence, reason: reason))
    case .needsAttention(let problem):
      var verdict = DeliveryVerdict(.needsAttention, reason: RELAY_REASON_CREDENTIALS, message: problem.message)
      verdict.problem = problem.code
      feed(runtime, .verdict(number: number, verdict))
    case .ready(let prepared):
      if prepared.isWorkerStale { dismissWorker(runtime) }
      guard isUsable(prepared, for: runtime) else {
        finishLeaving(runtime)
        return feed(runtime, .handedBack)
      }
      if runtime.machine.isCancelWanted {
        return feed(runtime, .verdict(number: number, DeliveryVerdict(.cancelled)))
      }
      if let most = runtime.target?.manifest.maximumBytes, prepared.length > most {
        return feed(
          runtime,
          .verdict(
            number: number,
            DeliveryVerdict(
              .refused, reason: RELAY_REASON_TOO_LARGE,
              message: "It has \(prepared.length) bytes; this target takes at most \(most).")))
      }
      let index = Int(part) - 1
      guard artifact.manifest.parts.indices.contains(index) else { return }
      let entry = artifact.manifest.parts[index]
      let first = runtime.machine.position.firstAttempt ?? .now
      let isBundle = artifact.manifest.bundle != nil || artifact.manifest.unit == .artifact
      let fields = DeliveryFields(
        length: UInt64(clamping: prepared.length), sha256: prepared.sha256.bytes,
        fileName: artifact.manifest.bundle?.name ?? entry.name,
        mediaType: artifact.manifest.bundle?.mediaType ?? entry.mediaType,
        contentEncoding: artifact.manifest.bundle == nil ? entry.encoding?.rawValue : nil,
        pipelineID: id, pipelineName: runtime.configuration.name, artifactID: artifact.manifest.artifactID.description,
        deliveryID: entry.deliveryID.description, messageID: artifact.manifest.messageID,
        partIndex: isBundle ? 1 : part, partCount: isBundle ? 1 : UInt32(clamping: artifact.manifest.parts.count),
        attempt: attempt, flags: 0, createdUnixMilliseconds: artifact.manifest.createdAt.milliseconds,
        firstAttemptUnixMilliseconds: first.milliseconds,
        attributes: artifact.manifest.attributes.map { DeliveryAttribute(name: $0.name, value: $0.value) })
      let overlay = entry.settings.map { SettingEntry(path: $0.path, value: .text($0.text)) } + prepared.rendered
      take(off: runtime, number, prepared, fields, overlay, isTest: false)
      if prepared.checksum == nil { readAlongside(runtime, number, prepared) }
      prepareAhead(of: artifact, isBundle ? artifact.manifest.parts.count : Int(part), runtime)
    }
  }

  /// Opens what a new worker is to be let into, or looks whether the one that is there still is let into what is meant; for a
  /// thread that may wait for a disk.
  func opening(for runtime: PipelineRuntime) -> @Sendable (inout PreparedPart) -> Void {
    if let worker = runtime.worker { return { $0.isWorkerStale = !worker.access.isCurrent } }
    guard let surroundings, let target = runtime.target else { return { _ in } }
    let typed = runtime.configuration.access
    return { $0.access = surroundings.open(typed, copy: target.copy, isShipped: target.isShipped) }
  }

  /// Whether what was prepared still fits: meanwhile the worker may have ended, or been told to go (other settings, a
  /// newer target, the end of the program).
  func isUsable(_ prepared: PreparedPart, for runtime: PipelineRuntime) -> Bool {
    guard runtime.worker == nil else { return runtime.worker?.isLeaving == false }
    // Address and credentials must be of one moment: never an old secret for a new address.
    let given = Set(prepared.secrets.map(\.path))
    return prepared.isForNewWorker && prepared.access != nil && prepared.generation == runtime.generation
      && runtime.configuration.load.settings.secrets.allSatisfy { given.contains($0.path) }
  }

  /// A worker that was told to go while something was prepared for it goes now.
  func finishLeaving(_ runtime: PipelineRuntime) {
    if runtime.worker?.isLeaving == true { dismissWorker(runtime) }
  }

  /// Starts a worker where none is there and sends it the delivery, all in one go.
  func take(
    off runtime: PipelineRuntime, _ number: UInt64, _ part: PreparedPart, _ fields: DeliveryFields,
    _ overlay: [SettingEntry], isTest: Bool
  ) {
    guard let target = runtime.target else {
      return endFlight(
        runtime, number, isTest: isTest,
        DeliveryVerdict(.needsAttention, message: catalogue.problem(with: runtime.configuration.load.targetID) ?? ""))
    }
    do {
      if runtime.worker == nil, let access = part.access { try startWorker(runtime, target, access, part.secrets) }
      let (cancelRead, cancelWrite) = try UnixSocket.pipe()
      let now = BootTime.now
      runtime.worker?.flight = Flight(
        number: number, deliveryID: fields.deliveryID, isTest: isTest, part: part, started: now,
        clock: StallClock(
          timeout: runtime.configuration.delivery.timeout, finalAnswer: target.manifest.finalAnswer,
          length: part.length, now: now),
        cancel: cancelWrite, content: part.checksum.map { .good(checksum: $0) })
      guard let worker = runtime.worker else { return }
      try host.assumeIsolated { host in
        try host.send(
          worker.number, .deliver(fields, overlay: overlay, verifiedChecksum: part.checksum), request: number,
          descriptors: [part.file, cancelRead])
      }
      watchFlight(runtime)
    } catch {
      runtime.worker?.flight = nil
      if runtime.worker == nil { act(on: places.ended(runtime.id)) } else { dismissWorker(runtime) }
      if isTest {
        endFlight(
          runtime, number, isTest: true, DeliveryVerdict(.retry, message: "No worker could be started: \(error.words)"))
      } else {
        log(.warning, "No worker could be started: \(error.words). It is tried again.", runtime)
        feed(runtime, .notStarted(reason: error.words))
      }
    }
  }

  private func startWorker(
    _ runtime: PipelineRuntime, _ target: UsableTarget, _ access: WorkerAccess, _ secrets: [SecretEntry]
  ) throws {
    if let passing = access.passing { throw passing }
    guard let bounds = surroundings?.bounds(of: access, copy: target.copy) else { return }
    for note in access.notes { log(.warning, note, runtime) }
    lastToken += 1
    let (id, token) = (runtime.id, lastToken)
    let settings = runtime.configuration.load.settings
    let number = try host.assumeIsolated { host throws(SystemError) in
      try host.start(usesRuntime: target.isShipped, bounds) { [weak self] event in
        self?.assumeIsolated { $0.workerEvent(id, token, event) }
      }
    }
    runtime.worker = RunningWorker(number: number, token: token, logAllowance: LineCollector(now: .now), access: access)
    try host.assumeIsolated { host in
      for frame in access.frames { try host.send(number, frame.message, descriptors: frame.descriptors) }
      try host.send(
        number,
        .load(path: target.copy, pipelineID: id, limits: .ofTargets, confinement: access.confinement))
      try host.send(
        number, .open(settings: SettingsTable.entries(settings), secrets: secrets, settingsJSON: settings.json))
    }
  }

  /// Hashes a large part in a thread of its own while it is being sent.
  private func readAlongside(_ runtime: PipelineRuntime, _ number: UInt64, _ part: PreparedPart) {
    let (id, loop) = (runtime.id, loop)
    let work: @Sendable () -> Void = { [weak self] in
      let content = PreparedPart.check(part.file, Manifest.Content(size: part.length, sha256: part.sha256))
      loop.post { [weak self] in self?.assumeIsolated { $0.wasRead(id, number, content) } }
    }
    do { try startThread("hash", work) } catch { threads.run(work) }
  }

  private func wasRead(_ id: String, _ number: UInt64, _ content: PartContent) {
    guard let runtime = runtimes[id], runtime.worker?.flight?.number == number else { return }
    runtime.worker?.flight?.content = content
    if let request = runtime.worker?.flight?.verifyRequest { answerVerify(runtime, request, content) }
  }

  // MARK: What the worker says

  func workerEvent(_ id: String, _ token: UInt64, _ event: WorkerEvent) {
    guard let runtime = runtimes[id], let worker = runtime.worker, worker.token == token else { return }
    switch event {
    case .line(let text): services.log.log(LogEntry(.info, services.blank(text), ["pipeline": id, "from": "target"]))
    case .denied(let attempt, let times):
      let names = surroundings?.filter.names ?? [:]
      log(.warning, services.blank(attempt.words(times: times, names: names)), runtime)
    case .ended(let end, let problem): workerEnded(runtime, end, problem)
    case .frame(let frame): take(frame, runtime)
    }
  }

  private func take(_ frame: WorkerFrame, _ runtime: PipelineRuntime) {
    switch frame.message {
    case .hello, .loaded, .manifest, .described: break
    case .confined(let confined, _): tellUnconfined(runtime, confined)
    case .loadFailed(.notNow, let text):
      endFlight(runtime, DeliveryVerdict(.retry, message: "The target \(text)"))
    case .loadFailed(_, let text):
      endFlight(
        runtime,
        DeliveryVerdict(
          .needsAttention, reason: RELAY_REASON_SETTINGS, message: "The target can't be loaded: \(text)"))
    case .opened(let code, let verdict):
      if let outcome = Self.failure(ofOpening: verdict, returnCode: code) { endFlight(runtime, outcome) }
    case .result(let deliveryID, let code, let verdict, let use):
      result(runtime, frame.requestID, deliveryID, code, verdict, use)
    case .log(let level, let text): targetLog(runtime, level, text)
    case .progress: runtime.worker?.flight?.clock.progressed(at: .now)
    default: request(frame, runtime)
    }
  }

  /// What the kernel should have had and this worker didn't get; what it lacks altogether was told at the start.
  private func tellUnconfined(_ runtime: PipelineRuntime, _ confined: [KernelConfinement.Piece]) {
    let lost = KernelConfinement.Piece.allCases.filter { !confined.contains($0) }
    guard let kernel = surroundings?.policy.kernel, !lost.allSatisfy(kernel.lacking.contains) else { return }
    let words = lost.map(\.rawValue).joined(separator: ", ")
    log(.warning, "The target runs less confined than this kernel allows; what is missing: \(words).", runtime)
  }

  /// Only a complete result for what is in flight counts.
  private func result(
    _ runtime: PipelineRuntime, _ requestID: UInt64, _ deliveryID: String, _ code: Int32, _ wire: WireVerdict,
    _ use: SourceUse
  ) {
    guard let flight = runtime.worker?.flight, flight.number == requestID, flight.deliveryID == deliveryID else {
      // A worker whose target didn't open answers the delivery too; that has been told already.
      guard runtime.worker?.isLeaving != true else { return }
      return log(.warning, "The target reported a result for nothing that is in flight; it was ignored.", runtime)
    }
    var verdict = Self.verdict(of: wire, returnCode: code)
    // The target was told to end and only knows that; what matters is why.
    let wasEnded = verdict.code == .cancelled || verdict.code == .retry && verdict.reason == RELAY_REASON_TIMEOUT
    if flight.isStalled, wasEnded {
      verdict = DeliveryVerdict(
        .retry, reason: RELAY_REASON_TIMEOUT, maybeDelivered: flight.isAllRead,
        message: stallMessage(runtime, flight, saying: verdict.code == .cancelled ? wire.message : ""))
    }
    if use == .failed, verdict.code != .delivered, flight.content == .damaged, !flight.isTest {
      // The verdict is about bytes that should never have gone out; the artifact itself is the matter.
      endFlightClock(runtime)
      return contentDamaged(runtime)
    }
    endFlight(runtime, verdict)
  }

  /// Why a target that was opened can't be used; nil when it can. It may only ask for time or for a person.
  static func failure(ofOpening wire: WireVerdict, returnCode: Int32) -> DeliveryVerdict? {
    guard returnCode != 0 || wire.code != RELAY_NONE else { return nil }
    switch wire.code {
    // It didn't open, and says why: 1 is the header's word for that, and another number means nothing more.
    case RELAY_RETRY, RELAY_NEEDS_ATTENTION: return verdict(of: wire, returnCode: 0)
    case RELAY_REFUSED:
      // Nothing was offered that it could refuse: what it doesn't like are the settings.
      var outcome = verdict(of: wire, returnCode: 0)
      outcome.code = .needsAttention
      return outcome
    case RELAY_NONE: return verdict(of: wire, returnCode: returnCode)
    default:
      return DeliveryVerdict(.none, message: "The target reported the verdict \(wire.code) while opening.")
    }
  }

  static func verdict(of wire: WireVerdict, returnCode: Int32) -> DeliveryVerdict {
    let codes: [Int32: DeliveryVerdict.Code] = [
      RELAY_DELIVERED: .delivered, RELAY_RETRY: .retry, RELAY_REFUSED: .refused,
      RELAY_NEEDS_ATTENTION: .needsAttention, RELAY_CANCELLED: .cancelled,
    ]
    var verdict = DeliveryVerdict(
      codes[wire.code] ?? .none, reason: wire.reason, status: wire.status,
      retryAfterMilliseconds: wire.retryAfterMilliseconds, bytesSent: wire.bytesSent,
      maybeDelivered: wire.flags & RELAY_MAYBE_DELIVERED != 0, message: PrintableText.cleaned(wire.message),
      receipt: PrintableText.cleaned(wire.receipt))
    let said = verdict.message.isEmpty ? "" : " \(verdict.message)"
    if returnCode != 0 {
      verdict.code = .none
      verdict.message = "The target's function returned \(returnCode).\(said)"
    } else if verdict.code == .none {
      verdict.message = "The target reported the verdict \(wire.code), which is none.\(said)"
    } else if verdict.code != .delivered && said.isEmpty {
      verdict.message = verdict.wordsWithoutMessage
    }
    return verdict
  }

  func endFlight(_ runtime: PipelineRuntime, _ verdict: DeliveryVerdict) {
    guard let flight = runtime.worker?.flight else { return }
    endFlight(runtime, flight.number, isTest: flight.isTest, verdict)
  }

  private func endFlight(
    _ runtime: PipelineRuntime, _ number: UInt64, isTest: Bool, _ reported: DeliveryVerdict
  ) {
    endFlightClock(runtime)
    var verdict = reported
    verdict.message = services.blank(reported.message)
    verdict.receipt = services.blank(reported.receipt)
    if isTest { endTest(runtime, verdict) } else { feed(runtime, .verdict(number: number, verdict)) }
  }

  private func endFlightClock(_ runtime: PipelineRuntime) {
    if let flight = runtime.worker?.flight {
      runtime.lastMilliseconds = BootTime.now.milliseconds(since: flight.started)
    }
    runtime.worker?.flight = nil
    loop.setTimer(TimerKey("pipeline \(runtime.id)", "flight"), at: nil)
  }

  private func workerEnded(_ runtime: PipelineRuntime, _ end: ProcessEnd, _ problem: String?) {
    let flight = runtime.worker?.flight
    if flight == nil, runtime.worker?.isLeaving == false {
      log(.warning, "The target's worker \(problem ?? end.words) between deliveries; nothing was lost.", runtime)
    }
    endFlightClock(runtime)
    runtime.worker = nil
    loop.setTimer(TimerKey("pipeline \(runtime.id)", "leave"), at: nil)
    loop.setTimer(TimerKey("pipeline \(runtime.id)", "idle"), at: nil)
    // Before anything is told that may ask for a place: that one is another.
    act(on: places.ended(runtime.id))
    if let flight {
      var verdict = DeliveryVerdict(.none, maybeDelivered: flight.isAllRead)
      if flight.ladder != nil && !flight.isStalled {
        verdict = DeliveryVerdict(.cancelled, message: "It was ended on request.")
      } else if flight.isStalled {
        verdict.message = stallMessage(runtime, flight) + " It didn't stop when asked and was ended."
      } else {
        verdict.message =
          problem.map { "The target broke the protocol of its worker: \($0)." }
          ?? "The target \(end.words) without a verdict."
      }
      if flight.isTest {
        endTest(runtime, verdict)
      } else {
        feed(runtime, .verdict(number: flight.number, verdict))
      }
    }
    if runtime.isRetired || isStopping { finishIfIdle(runtime) }
  }

  private func targetLog(_ runtime: PipelineRuntime, _ level: Int32, _ text: String) {
    let levels: [Int32: LogLevel] = [
      RELAY_LOG_DEBUG: .debug, RELAY_LOG_INFO: .info, RELAY_LOG_WARNING: .warning, RELAY_LOG_ERROR: .error,
    ]
    let lines =
      runtime.worker?.logAllowance.append(Array(text.utf8.map { $0 == 10 ? 32 : $0 }) + [10], now: .now) ?? []
    for line in lines {
      services.log.log(
        LogEntry(levels[level] ?? .info, services.blank(line), ["pipeline": runtime.id, "from": "target"]))
    }
  }
}
