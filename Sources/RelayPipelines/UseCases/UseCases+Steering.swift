// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayQueue
import RelaySystem

extension UseCases {
  func pause(_ id: String) throws(Refusal) -> ControlReply {
    _ = try pipeline(id)
    try steer(id, { $0.pause(id) }, { $0.pausedByCommand = true })
    return ControlReply(.object(["pipeline": .text(id), "paused": .flag(true)]))
  }

  func resume(_ id: String) throws(Refusal) -> ControlReply {
    let pipeline = try pipeline(id)
    try steer(id, { $0.resume(id) }) { state in
      state.pausedByCommand = false
      state.attention = nil
    }
    return ControlReply(
      .object([
        "pipeline": .text(id), "paused": .flag(pipeline.paused), "pausedByConfiguration": .flag(pipeline.paused),
      ]))
  }

  /// By the engine where one runs, else in the state file for the next start.
  private func steer(
    _ id: String, _ byEngine: @escaping @Sendable (isolated DeliveryEngine) -> Void,
    _ onDisk: (inout PipelineState) -> Void
  ) throws(Refusal) {
    if let engine = context.engine {
      let saved = Reply<String?>()
      engine.loop.post {
        engine.assumeIsolated { engine in
          byEngine(engine)
          engine.whenSaved(id) { saved.set($0) }
        }
      }
      guard let problem = saved.wait() else { return }
      throw Refusal(
        .needsYou, .stateNotSaved,
        Refusal.sentence("That holds for pipeline \(id) now, but it could not be saved: \(problem)"),
        hint: "it is saved as soon as that is mended; until then a restart undoes it")
    }
    let folder = try folder(id)
    do {
      _ = try folder.stateFile.load()
      try folder.stateFile.update(onDisk)
    } catch {
      throw Refusal(error)
    }
  }

  /// Lets the pipelines that use a secret go on at the next start, when no daemon runs that could do it now.
  func secretChanged(_ name: String) throws(Refusal) -> ControlReply {
    for pipeline in context.configuration.pipelines
    where pipeline.load.settings.secrets.contains(where: { $0.name == name }) {
      let folder = try folder(pipeline.id)
      do {
        if try folder.stateFile.load().state.attention != nil { try folder.stateFile.update { $0.attention = nil } }
      } catch {
        throw Refusal(error)
      }
    }
    return ControlReply(.object(["secret": .text(name)]))
  }

  /// Tries what waits now, without waiting for the end of the backoff.
  func retry(_ id: String) throws(Refusal) -> ControlReply {
    _ = try pipeline(id)
    guard let engine = context.engine else {
      throw Refusal(
        .unreachable, .controlUnreachable,
        "No daemon runs for \(context.configuration.state), so nothing can be tried now.",
        hint: "start it with `relay-host --config \(context.configuration.file)`")
    }
    let snapshot = engine.ask { engine in
      engine.tryNow(id)
      return engine.snapshot(of: id)
    }
    if let attention = snapshot??.attention {
      throw Refusal(
        .needsYou, DiagnosticCode(rawValue: attention.code) ?? .deliveryNeedsAttention,
        "Pipeline \(id) needs attention: \(attention.message)",
        hint: Remedy.text(for: attention.code, pipeline: id))
    }
    let isPaused = snapshot??.state == .paused
    return ControlReply(
      .object(["pipeline": .text(id), "state": .text(snapshot??.state.rawValue)]), isPaused ? .needsYou : .done)
  }

  /// Deletes a pipeline's folder with everything in it.
  func remove(_ id: String) throws(Refusal) -> ControlReply {
    let folder = try existing(id)
    let waiting = (try? folder?.sequences().count) ?? 0
    let refused = (try? folder?.refusedCount()) ?? 0
    if let engine = context.engine {
      let done = Reply<Void>()
      engine.loop.post { engine.assumeIsolated { $0.remove(id) { done.set(()) } } }
      done.wait()
    }
    do { try context.state.removePipeline(id) } catch { throw Refusal(error) }
    return ControlReply(
      .object([
        "pipeline": .text(id), "removed": .flag(folder != nil), "waiting": .integer(waiting),
        "refused": .integer(refused),
        "stillConfigured": .flag(context.configuration.pipelines.contains { $0.id == id }),
      ]))
  }

  /// Delivers a test with nothing in it and tells what the receiver answered.
  func test(_ id: String) throws(Refusal) -> ControlReply {
    let pipeline = try pipeline(id)
    if pipeline.needsHealthStore {
      throw Refusal(.usage, .pipelineNotRun, "Pipeline \(id) reads health data, which this version doesn't run yet.")
    }
    guard let engine = context.engine else {
      throw Refusal(.unreachable, .controlUnreachable, "No daemon runs for \(context.configuration.state).")
    }
    let answer = Reply<DeliveryVerdict>()
    engine.loop.post { engine.assumeIsolated { $0.test(id) { answer.set($0) } } }
    let verdict = answer.wait()
    let passed = verdict.code == .delivered
    let result = JSONNode.object([
      "pipeline": .text(id), "passed": .flag(passed), "verdict": .text(verdict.code.rawValue),
      "status": .integer(verdict.status), "message": .text(verdict.message), "receipt": .text(verdict.receipt),
    ])
    return ControlReply(result, Outcome(of: verdict))
  }

  /// The targets that were found, usable or not.
  func targets() -> ControlReply { ControlReply(Self.targets(context.catalogue)) }

  package static func targets(_ catalogue: TargetCatalogue) -> JSONNode {
    .object([
      "targets": .array(
        catalogue.found.map { found in
          switch found.state {
          case .ready(let usable):
            .object([
              "id": .text(usable.manifest.id), "file": .text(found.file), "version": .text(usable.manifest.version),
              "name": .text(usable.manifest.name), "unit": .text(usable.manifest.unit.rawValue),
              "state": .text("ready"), "reason": JSONNode(.null),
              "shipped": .flag(usable.isShipped),
            ])
          case .broken(let reason): broken(found.file, reason)
          case .settling: broken(found.file, "It was changed less than a second ago; it is looked at again soon.")
          }
        })
    ])
  }

  private static func broken(_ file: String, _ reason: String) -> JSONNode {
    .object([
      "id": JSONNode(.null), "file": .text(file), "version": JSONNode(.null), "unit": JSONNode(.null),
      "state": .text("broken"), "reason": .text(reason),
    ])
  }
}
