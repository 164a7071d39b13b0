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
    case .scratch:
      let answer = TargetRequests.scratch(in: runtime.folder?.folder)
      send(runtime, answer.message, request, answer.descriptors)
    case .stateGet, .stateNext, .statePut, .stateDelete: answerFromState(runtime, request, frame.message)
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

  private func answerFromState(_ runtime: PipelineRuntime, _ request: UInt64, _ message: WorkerMessage) {
    guard let targetState = runtime.targetState, let flight = runtime.worker?.flight else {
      return send(runtime, .stateAnswer(code: RELAY_FAILED, value: []), request)
    }
    let (id, token, deliveryID, loop) = (runtime.id, runtime.worker?.token, flight.deliveryID, loop)
    runtime.disk.run { [weak self] in
      guard let answer = TargetRequests.answer(message, from: targetState, deliveryID: deliveryID) else { return }
      loop.post { [weak self] in
        self?.assumeIsolated { me in
          guard let runtime = me.runtimes[id], runtime.worker?.token == token else { return }
          runtime.worker?.flight?.clock.progressed(at: .now)
          me.send(runtime, answer.message, request, answer.descriptors)
        }
      }
    }
  }

  private func send(
    _ runtime: PipelineRuntime, _ message: HostMessage, _ request: UInt64, _ descriptors: [Descriptor] = []
  ) {
    guard let number = runtime.worker?.number else { return }
    host.assumeIsolated { host in try? host.send(number, message, request: request, descriptors: descriptors) }
  }
}
