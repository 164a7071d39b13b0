// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization

/// Doing what the machines decide: on the disk by threads, on the clock by the loop.
extension DeliveryEngine {
  func perform(_ action: DeliveryAction, _ runtime: PipelineRuntime) {
    let id = runtime.id
    switch action {
    case .open(let sequence): open(sequence, runtime)
    case .requestPlace:
      loop.setTimer(TimerKey("pipeline \(id)", "idle"), at: nil)
      act(on: places.request(id, since: .now))
    case .releasePlace: releasePlace(runtime)
    case .send(let number, let sequence, let part, let attempt):
      prepare(runtime, number: number, sequence: sequence, part: part, attempt: attempt)
    case .sendTest: act(on: places.request(id, since: .now))
    case .mark(let record):
      onDisk(runtime) { folder, then in
        folder.marks.write(record) { result in
          switch result {
          case .success: then(.marked)
          case .failure(let error): then(.markFailed(reason: error.message))
          }
        }
      }
    case .moveToCorrupt(let sequence, let reason):
      log(.error, "An artifact is damaged and was set aside in corrupt/: \(reason).", runtime, sequence)
      move(runtime, sequence) { folder throws(SystemError) in try folder.moveToCorrupt(sequence, reason: reason) }
    case .setAside(let sequence, let part, let attempts, let verdict):
      setAside(runtime, sequence, part, attempts, verdict)
    case .remove(let sequences): remove(sequences, runtime)
    case .requeue(let sequence): requeue(sequence, runtime)
    case .cancel: cancelFlight(runtime)
    case .dismissWorker: dismissWorker(runtime)
    case .eraseDeliveryState: eraseDeliveryState(runtime)
    case .setTimer(let moment):
      loop.setTimer(TimerKey("pipeline \(id)", "next"), at: moment) { [weak self] in
        self?.assumeIsolated { $0.feed(id, .timer) }
      }
    case .save(let attention, let paused): save(runtime, attention, paused)
    case .record(let sequence, let part, let attempt, let verdict, let next):
      record(runtime, sequence, part, attempt, verdict, next)
    case .note(let text): log(.notice, text, runtime)
    }
  }

  /// Runs work on the pipeline's folder; `then` may be called from any thread and brings its event back here.
  func onDisk(
    _ runtime: PipelineRuntime,
    _ work: @escaping @Sendable (PipelineFolder, _ then: @escaping @Sendable (DeliveryEvent) -> Void) -> Void
  ) {
    guard let folder = runtime.folder else { return }
    let (id, loop) = (runtime.id, loop)
    let then: @Sendable (DeliveryEvent) -> Void = { [weak self] event in
      loop.post { [weak self] in self?.assumeIsolated { $0.feed(id, event) } }
    }
    runtime.disk.run { work(folder, then) }
  }

  /// Gone already: there is nothing left to move. Anything else that is missing doesn't count.
  private static func notMoved(_ sequence: UInt64, _ error: SystemError, _ folder: PipelineFolder) -> DeliveryEvent {
    error.isMissing && folder.hasLeft(sequence)
      ? .movedAway(sequence: sequence) : .moveFailed(sequence: sequence, reason: error.message)
  }

  private func move(
    _ runtime: PipelineRuntime, _ sequence: UInt64,
    _ work: @escaping @Sendable (PipelineFolder) throws(SystemError) -> Void
  ) {
    runtime.artifact = nil
    onDisk(runtime) { folder, then in
      do throws(SystemError) {
        try work(folder)
        then(.movedAway(sequence: sequence))
      } catch {
        then(Self.notMoved(sequence, error, folder))
      }
    }
  }

  /// Takes delivered artifacts out of the queue. Until that is on the disk the marks go on naming them, so that they can't
  /// come back: a removal that fails is tried again. The next artifact doesn't wait for it.
  private func remove(_ sequences: [UInt64], _ runtime: PipelineRuntime) {
    guard let folder = runtime.folder else { return }
    let (id, loop, threads) = (runtime.id, loop, threads)
    runtime.disk.run { [weak self] in
      folder.takeOut(sequences) { [weak self] result in
        threads.run { [weak self] in
          if case .success = result { for sequence in sequences { folder.deleteTakenOut(sequence) } }
          loop.post { [weak self] in self?.assumeIsolated { $0.removed(sequences, from: id, result) } }
        }
      }
    }
  }

  private func removed(_ sequences: [UInt64], from id: String, _ result: Result<Void, CommitError>) {
    guard let runtime = runtimes[id] else { return }
    guard case .failure(let error) = result else { return feed(runtime, .removed(sequences: sequences)) }
    guard sequences.count == 1, let sequence = sequences.first else {
      // One that can't be removed must not keep the others.
      for sequence in sequences { remove([sequence], runtime) }
      return
    }
    log(.warning, "A delivered artifact can't be removed yet: \(error.message).", runtime, sequence)
    loop.setTimer(
      TimerKey("pipeline \(id)", "remove \(sequence)"), at: BootTime.now.advanced(milliseconds: Self.loadPause)
    ) { [weak self] in
      self?.assumeIsolated { me in if let runtime = me.runtimes[id] { me.remove([sequence], runtime) } }
    }
  }

  private func requeue(_ sequence: UInt64, _ runtime: PipelineRuntime) {
    guard let folder = runtime.folder else { return }
    let (id, loop) = (runtime.id, loop)
    runtime.disk.run { [weak self] in
      let result = Result { () throws(CommitError) in try folder.requeue(sequence) }
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          guard let runtime = me.runtimes[id] else { return }
          switch result {
          case .success: me.announceReady(runtime)
          // Delivered or set aside long ago: it was only told late.
          case .failure(let error) where error.cause.isMissing: break
          case .failure(let error):
            me.log(.error, "A late artifact can't be put at the end of the queue: \(error.message).", runtime, sequence)
          }
        }
      }
    }
  }

  private func setAside(
    _ runtime: PipelineRuntime, _ sequence: UInt64, _ part: UInt32, _ attempts: UInt32, _ verdict: DeliveryVerdict
  ) {
    let limit = runtime.configuration.delivery.maxRefusedBytes
    let reason = SetAsideReason(
      verdict: verdict.code.rawValue, message: services.blank(verdict.message), status: Int64(verdict.status),
      part: part == 0 ? nil : Int64(part), attempts: Int64(attempts))
    log(.warning, "An artifact was set aside in refused/: \(verdict.message)", runtime, sequence)
    if runtime.machine.queue.first == sequence { runtime.artifact = nil }
    let (id, loop) = (runtime.id, loop)
    let tellLater = { @Sendable [weak self] (name: String) in
      loop.post { [weak self] in self?.assumeIsolated { $0.tellLater(reason, of: name, in: id) } }
    }
    onDisk(runtime) { folder, then in
      do throws(SystemError) {
        guard try folder.refusedBytes() < limit else {
          return then(
            .stopped(
              sequence: sequence, code: .deliveryRefusedFull,
              message:
                "refused/ has reached its limit (delivery.maxRefused). Look at `relay-host refused \(folder.id)`, "
                + "then resend or delete what is there. Last reason: \(reason.message)"))
        }
        if let name = try folder.setAside(sequence, reason: reason) { tellLater(name) }
        then(.movedAway(sequence: sequence))
      } catch {
        then(Self.notMoved(sequence, error, folder))
      }
    }
  }

  /// What was set aside on a full disk has no reason beside it yet: it gets it when there is room.
  private func tellLater(_ reason: SetAsideReason, of name: String, in id: String) {
    loop.setTimer(
      TimerKey("pipeline \(id)", "reason \(name)"), at: BootTime.now.advanced(milliseconds: Self.loadPause)
    ) { [weak self] in
      self?.assumeIsolated { me in
        guard let runtime = me.runtimes[id], let folder = runtime.folder else { return }
        runtime.disk.run { [weak me, loop = me.loop] in
          if folder.tell(reason, of: name) { return }
          loop.post { [weak me] in me?.assumeIsolated { $0.tellLater(reason, of: name, in: id) } }
        }
      }
    }
  }

  private func save(_ runtime: PipelineRuntime, _ attention: Attention?, _ paused: Bool, isNews: Bool = true) {
    guard let folder = runtime.folder else { return }
    if let attention, isNews { log(.error, "The pipeline needs attention: \(attention.message)", runtime) }
    let (sink, id, loop, blank, problem) = (services.log, runtime.id, loop, services.blank, runtime.savingProblem)
    loop.setTimer(TimerKey("pipeline \(id)", "save"), at: nil)
    runtime.disk.run { [weak self] in
      do throws(StateError) {
        try folder.stateFile.update { state in
          state.attention = attention.map {
            PipelineState.Attention(
              code: $0.code, message: blank($0.message), since: WallTime(milliseconds: $0.since),
              settingsFingerprint: $0.fingerprint)
          }
          state.pausedByCommand = paused
        }
        problem.words.withLock { $0 = nil }
      } catch {
        problem.words.withLock { $0 = error.message }
        sink.log(
          LogEntry(.error, "pipeline.json could not be saved: \(error.message). It is tried again.", ["pipeline": id]))
        loop.post { [weak self] in self?.assumeIsolated { $0.saveLater(id) } }
      }
    }
  }

  /// What people were told must hold after a restart too: it is saved as it is by then.
  private func saveLater(_ id: String) {
    loop.setTimer(
      TimerKey("pipeline \(id)", "save"), at: BootTime.now.advanced(milliseconds: Self.loadPause)
    ) { [weak self] in
      self?.assumeIsolated { me in
        guard let runtime = me.runtimes[id] else { return }
        me.save(runtime, runtime.machine.attention, runtime.machine.isPausedByCommand, isNews: false)
      }
    }
  }

  private func eraseDeliveryState(_ runtime: PipelineRuntime) {
    guard let targetState = runtime.targetState else { return }
    runtime.disk.run { try? targetState.eraseDeliveryScope() }
  }

  private func record(
    _ runtime: PipelineRuntime, _ sequence: UInt64, _ part: UInt32, _ attempt: UInt32, _ verdict: DeliveryVerdict,
    _ next: WallTime?
  ) {
    let now = WallTime.now
    let manifest = runtime.artifact?.sequence == sequence ? runtime.artifact?.manifest : nil
    let index = Int(part) - 1
    let isKnown = manifest?.parts.indices.contains(index) ?? false
    let record = DeliveryRecord(
      at: now, artifact: manifest?.artifactID.description ?? "", part: Int64(part),
      deliveryID: isKnown ? manifest?.parts[index].deliveryID.description ?? "" : "", attempt: Int64(attempt),
      verdict: verdict.code.rawValue, status: Int64(verdict.status),
      message: PrintableText.cleaned(services.blank(verdict.message)), bytes: Int64(clamping: verdict.bytesSent),
      milliseconds: runtime.lastMilliseconds, days: manifest?.attributes.filter { $0.name == "day" }.map(\.value) ?? [])
    runtime.lastVerdict = record
    if verdict.code == .delivered {
      runtime.lastSuccess = now
      if runtime.machine.queue.first != sequence { runtime.artifact = nil }
    }
    logVerdict(runtime, record, sequence, next)
    guard let folder = runtime.folder else { return }
    runtime.disk.run { try? folder.deliveryLog.append(record) }
  }

  private func logVerdict(
    _ runtime: PipelineRuntime, _ record: DeliveryRecord, _ sequence: UInt64, _ next: WallTime?
  ) {
    let delivered = record.verdict == DeliveryVerdict.Code.delivered.rawValue
    var entry = LogEntry(
      delivered ? .info : .warning, delivered ? "Delivered." : "Not delivered: \(record.message)",
      [
        "pipeline": runtime.id, "artifact": record.artifact, "part": "\(record.part ?? 0)",
        "attempt": "\(record.attempt)",
        "verdict": record.verdict, "ms": "\(record.milliseconds)",
      ])
    if record.status != 0 { entry.fields.append(.init(name: "status", value: "\(record.status)")) }
    if let next { entry.fields.append(.init(name: "next", value: next.text())) }
    services.log.log(entry)
  }

  func log(_ level: LogLevel, _ text: String, _ runtime: PipelineRuntime, _ sequence: UInt64? = nil) {
    var entry = LogEntry(level, text, ["pipeline": runtime.id])
    if let sequence { entry.fields.append(.init(name: "sequence", value: "\(sequence)")) }
    services.log.log(entry)
  }
}
