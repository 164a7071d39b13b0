// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// Opening what a pipeline has on the disk.
extension DeliveryEngine {
  /// What was found in a pipeline's folder.
  struct Loaded: Sendable {
    var folder: PipelineFolder
    var targetState: TargetState
    var records: [DeliveryRecord]
    var state: PipelineState
    var recovery: Recovery
  }

  /// How soon a folder that couldn't be read is tried again, in milliseconds.
  static let loadPause: Int64 = 30_000

  func load(_ runtime: PipelineRuntime) {
    let (id, loop, state, sink, identity) = (runtime.id, loop, state, services.log, ObjectIdentifier(runtime))
    runtime.disk.run { [weak self] in
      let result = Result { () throws(LoadProblem) in try Self.open(id, in: state, sink) }
      loop.post { [weak self] in self?.assumeIsolated { $0.loaded(id, identity, result) } }
    }
  }

  struct LoadProblem: Error { var message: String }

  private static func open(_ id: String, in state: StateFolder, _ sink: any LogSink) throws(LoadProblem) -> Loaded {
    do {
      let folder = try state.pipeline(id)
      let note = { (text: String) in sink.log(LogEntry(.warning, text, ["pipeline": id])) }
      for finding in [folder.marksFinding] { if let text = finding.words("marks") { note(text) } }
      let (targetState, stateFinding) = try folder.openTargetState()
      if let text = stateFinding.words("target-state") { note(text) }
      let (pipelineState, pipelineFinding) = try folder.stateFile.load()
      if let text = pipelineFinding.words("pipeline.json") { note(text) }
      let recovery = try folder.recover()
      for problem in recovery.problems { note(problem.message) }
      // A cache: without it nothing is lost.
      let records = (try? folder.deliveryLog.last()) ?? []
      return Loaded(
        folder: folder, targetState: targetState, records: records, state: pipelineState, recovery: recovery)
    } catch let error as StateError {
      throw LoadProblem(message: error.message)
    } catch let error as SystemError {
      throw LoadProblem(message: error.message)
    } catch {
      throw LoadProblem(message: "\(error)")
    }
  }

  private func loaded(_ id: String, _ identity: ObjectIdentifier, _ result: Result<Loaded, LoadProblem>) {
    // A pipeline that left and came back meanwhile looks for itself.
    guard let runtime = runtimes[id], ObjectIdentifier(runtime) == identity else { return }
    switch result {
    case .failure(let problem):
      // What can't be read now is left alone, and nothing is saved over it, until it can.
      log(.error, "The pipeline's folder can't be read: \(problem.message). It is tried again.", runtime)
      runtime.machine.noteDiskProblem(
        "its folder can't be read, so nothing is sent and nothing is lost: \(problem.message). Mend that; it is tried "
          + "again every \(Self.loadPause / 1000) seconds.")
      loop.setTimer(
        TimerKey("pipeline \(id)", "load"), at: BootTime.now.advanced(milliseconds: Self.loadPause)
      ) { [weak self] in
        self?.assumeIsolated { me in if let runtime = me.runtimes[id] { me.load(runtime) } }
      }
    case .success(let found):
      runtime.folder = found.folder
      runtime.targetState = found.targetState
      runtime.lastVerdict = found.records.last
      runtime.lastSuccess =
        found.records.last { $0.verdict == DeliveryVerdict.Code.delivered.rawValue }?.at ?? found.state.lastSuccess
      let folder = found.folder
      var position = folder.marks.current
      // Recovery has removed them; kept on, they would count against the limit of removals for ever.
      position.pendingRemovals.removeAll { !found.recovery.remaining.contains($0.sequence) }
      // Counting a long backlog must not keep the first delivery waiting.
      threads.run { [weak self, loop] in
        _ = try? folder.measure()
        loop.post { [weak self] in self?.assumeIsolated { $0.services.changed(id) } }
      }
      feed(
        runtime,
        .loaded(
          queue: found.recovery.sequences, position: position,
          attention: found.state.attention.map {
            Attention(
              code: $0.code, message: $0.message, since: $0.since.milliseconds, fingerprint: $0.settingsFingerprint)
          }, pausedByCommand: found.state.pausedByCommand))
      // What was committed while the folder was looked through.
      announceReady(runtime)
    }
    answerLoadWaiters(runtime)
  }
}

extension FileFinding {
  /// What a person is told when a file was opened; nil when there is nothing to tell.
  func words(_ name: String) -> String? {
    switch self {
    case .good, .missing: nil
    case .setAside(let path): "\(name) could not be decoded; it was kept as \(path) and a new one was begun."
    case .mended(let path): "\(path) was damaged in part; what was whole is in use."
    }
  }
}
