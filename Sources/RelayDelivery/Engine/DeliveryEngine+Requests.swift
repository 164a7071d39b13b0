// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import TargetABI

/// What a target asks of the host during a call.
extension DeliveryEngine {
  func request(_ frame: WorkerFrame, _ runtime: PipelineRuntime) {
    // Whatever it asks for, it is alive.
    runtime.worker?.flight?.clock.progressed(at: .now)
    let request = frame.requestID
    switch frame.message {
    case .verify:
      guard let flight = runtime.worker?.flight else { return }
      if let content = flight.content {
        answerVerify(runtime, request, content)
      } else {
        runtime.worker?.flight?.verifyRequest = request
      }
    case .scratch: scratch(runtime, request)
    case .stateGet(let scope, let key):
      withState(runtime, request) { state in
        Self.answer { () throws(TargetStateError) in try state.get(scope.kept, key) }
      }
    case .stateNext(let scope, let after):
      withState(runtime, request) { state in
        Self.answer { () throws(TargetStateError) in try state.next(scope.kept, after: after) }
      }
    case .statePut(let scope, let key, let value):
      withState(runtime, request) { state in
        Self.answer { () throws(TargetStateError) in
          try state.put(scope.kept, key, value)
          return []
        }
      }
    case .stateDelete(let scope, let key):
      withState(runtime, request) { state in
        Self.answer { () throws(TargetStateError) in
          try state.remove(scope.kept, key)
          return []
        }
      }
    default: break
    }
  }

  func answerVerify(_ runtime: PipelineRuntime, _ request: UInt64, _ content: PartContent) {
    runtime.worker?.flight?.verifyRequest = nil
    runtime.worker?.flight?.clock.progressed(at: .now)
    switch content {
    case .good(let checksum): send(runtime, .verifyAnswer(code: RELAY_OK, checksum: checksum), request)
    case .damaged, .unreadable: send(runtime, .verifyAnswer(code: RELAY_FAILED, checksum: 0), request)
    }
  }

  /// nil is "not there".
  private static func answer(_ work: () throws(TargetStateError) -> [UInt8]?) -> (Int32, [UInt8]) {
    do throws(TargetStateError) {
      return try work().map { (RELAY_OK, $0) } ?? (RELAY_ABSENT, [])
    } catch {
      switch error {
      case .badKey, .valueTooLong, .full: return (RELAY_DENIED, [])
      case .damaged, .notSaved, .system: return (RELAY_FAILED, [])
      }
    }
  }

  private func withState(
    _ runtime: PipelineRuntime, _ request: UInt64, _ work: @escaping @Sendable (ScopedState) -> (Int32, [UInt8])
  ) {
    guard let targetState = runtime.targetState, let flight = runtime.worker?.flight else {
      return send(runtime, .stateAnswer(code: RELAY_FAILED, value: []), request)
    }
    let scoped = ScopedState(state: targetState, deliveryID: flight.deliveryID)
    let (id, token, loop) = (runtime.id, runtime.worker?.token, loop)
    runtime.disk.run { [weak self] in
      let (code, value) = work(scoped)
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          guard let runtime = me.runtimes[id], runtime.worker?.token == token else { return }
          runtime.worker?.flight?.clock.progressed(at: .now)
          me.send(runtime, .stateAnswer(code: code, value: value), request)
        }
      }
    }
  }

  private func scratch(_ runtime: PipelineRuntime, _ request: UInt64) {
    guard let folder = runtime.folder else {
      return send(runtime, .scratchAnswer(code: RELAY_FAILED), request)
    }
    let file = Result { () throws(SystemError) in try folder.folder.unnamedFile() }
    switch file {
    case .success(let file): send(runtime, .scratchAnswer(code: RELAY_OK), request, [file])
    case .failure: send(runtime, .scratchAnswer(code: RELAY_FAILED), request)
    }
  }

  private func send(
    _ runtime: PipelineRuntime, _ message: HostMessage, _ request: UInt64, _ descriptors: [Descriptor] = []
  ) {
    guard let number = runtime.worker?.number else { return }
    host.assumeIsolated { host in try? host.send(number, message, request: request, descriptors: descriptors) }
  }
}

extension StateScope {
  /// The table of the state file.
  fileprivate var kept: TargetStateScope {
    switch self {
    case .pipeline: .pipeline
    case .delivery: .delivery
    }
  }
}
