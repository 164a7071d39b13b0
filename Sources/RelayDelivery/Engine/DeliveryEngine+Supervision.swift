// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelaySystem

/// Seeing to it that workers move, end when told, and don't stay without work.
extension DeliveryEngine {
  /// Looks at the flight again when it would count as stalled, or at the next step of ending it.
  func watchFlight(_ runtime: PipelineRuntime) {
    guard let flight = runtime.worker?.flight else { return }
    let moment = flight.ladder.map(\.nextMoment) ?? flight.clock.deadline
    let id = runtime.id
    loop.setTimer(TimerKey("pipeline \(id)", "flight"), at: moment) { [weak self] in
      self?.assumeIsolated { me in if let runtime = me.runtimes[id] { me.look(at: runtime) } }
    }
  }

  private func look(at runtime: PipelineRuntime) {
    let now = BootTime.now
    guard var flight = runtime.worker?.flight, let number = runtime.worker?.number else { return }
    if flight.ladder == nil {
      if let offset = try? flight.part.file.offset() { flight.clock.saw(offset: offset, at: now) }
      // It waits for this program, which is still hashing.
      if flight.verifyRequest != nil { flight.clock.progressed(at: now) }
      if now >= flight.clock.deadline {
        flight.isStalled = true
        flight.silence = flight.clock.silence(at: now)
        flight.ladder = KillLadder(now: now)
        log(.warning, stallMessage(runtime, flight), runtime)
      }
    }
    switch flight.ladder?.step(at: now) {
    case .ask?: _ = try? flight.cancel.write([1])
    case let step?: host.assumeIsolated { $0.signal(number, step) }
    case nil: break
    }
    runtime.worker?.flight = flight
    watchFlight(runtime)
  }

  /// - Parameter words: where it stood, by the target.
  func stallMessage(_ runtime: PipelineRuntime, _ flight: Flight, saying words: String = "") -> String {
    let seconds = flight.silence / 1000
    let silence =
      flight.isAllRead
      ? "Everything was sent, then nothing was heard for \(seconds) s."
      : "Nothing has moved for \(seconds) s (delivery.timeout)."
    return words.isEmpty ? silence : "\(silence) The target says: \(PrintableText.cleaned(words))."
  }

  /// A person or the end of the program wants the delivery under way to end.
  func cancelFlight(_ runtime: PipelineRuntime) {
    guard runtime.worker?.flight != nil, runtime.worker?.flight?.ladder == nil else { return }
    runtime.worker?.flight?.ladder = KillLadder(now: .now)
    look(at: runtime)
  }

  /// Lets the worker go: now if it has nothing to do, else after that.
  func dismissWorker(_ runtime: PipelineRuntime) {
    // Also when there is none yet: one that is about to be started was prepared for what no longer holds.
    runtime.generation &+= 1
    guard let worker = runtime.worker, worker.leaveLadder == nil else { return }
    runtime.worker?.isLeaving = true
    places.markLeaving(runtime.id)
    guard worker.flight == nil, !runtime.isHandingOver else { return }
    host.assumeIsolated { host in try? host.send(worker.number, .leave) }
    runtime.worker?.leaveLadder = KillLadder(
      from: .terminate, now: BootTime.now.advanced(milliseconds: KillLadder.patience))
    watchLeaving(runtime)
  }

  private func watchLeaving(_ runtime: PipelineRuntime) {
    let id = runtime.id
    loop.setTimer(TimerKey("pipeline \(id)", "leave"), at: runtime.worker?.leaveLadder?.nextMoment) { [weak self] in
      self?.assumeIsolated { me in
        guard let runtime = me.runtimes[id], let number = runtime.worker?.number else { return }
        if let step = runtime.worker?.leaveLadder?.step(at: .now) { me.host.assumeIsolated { $0.signal(number, step) } }
        me.watchLeaving(runtime)
      }
    }
  }

  /// The pipeline doesn't want to send just now. A place without a worker is free at once: no worker's end gives it back.
  func releasePlace(_ runtime: PipelineRuntime) {
    let now = BootTime.now
    act(on: places.release(runtime.id, now: now))
    if runtime.worker == nil { act(on: places.ended(runtime.id)) } else { watchIdle(runtime, since: now) }
  }

  /// Lets an idle worker go after a while.
  func watchIdle(_ runtime: PipelineRuntime, since now: BootTime) {
    if runtime.worker?.isLeaving == true { return dismissWorker(runtime) }
    let id = runtime.id
    loop.setTimer(
      TimerKey("pipeline \(id)", "idle"), at: now.advanced(milliseconds: Self.idleTime)
    ) { [weak self] in
      self?.assumeIsolated { me in
        guard let runtime = me.runtimes[id], runtime.worker?.flight == nil else { return }
        me.dismissWorker(runtime)
      }
    }
  }
}
