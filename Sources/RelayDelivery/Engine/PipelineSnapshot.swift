// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayQueue
import RelaySystem

/// What `status` shows of one pipeline at one moment.
package struct PipelineSnapshot: Sendable {
  package var id: String
  package var state: DeliveryMachine.State
  /// nil while what it has on the disk isn't known.
  package var totals: QueueTotals?
  package var lastSuccess: WallTime?
  package var lastVerdict: DeliveryRecord?
  package var attempts: UInt32
  package var nextAttempt: WallTime?
  package var stuckSince: WallTime?
  /// Why it needs a person: code and words.
  package var attention: (code: String, message: String, since: WallTime?)?
  /// What passes by itself, for example a full disk.
  package var trouble: String?
  /// The sequence in flight.
  package var sending: UInt64?

  package init(
    id: String, state: DeliveryMachine.State, totals: QueueTotals?, lastSuccess: WallTime? = nil,
    lastVerdict: DeliveryRecord? = nil, attempts: UInt32 = 0, nextAttempt: WallTime? = nil,
    stuckSince: WallTime? = nil, attention: (code: String, message: String, since: WallTime?)? = nil,
    trouble: String? = nil, sending: UInt64? = nil
  ) {
    self.id = id
    self.state = state
    self.totals = totals
    self.lastSuccess = lastSuccess
    self.lastVerdict = lastVerdict
    self.attempts = attempts
    self.nextAttempt = nextAttempt
    self.stuckSince = stuckSince
    self.attention = attention
    self.trouble = trouble
    self.sending = sending
  }
}

extension DeliveryEngine {
  /// All pipelines that run, by id.
  package func snapshots() -> [String: PipelineSnapshot] { runtimes.mapValues { snapshot($0) } }

  package func snapshot(of id: String) -> PipelineSnapshot? { runtimes[id].map { snapshot($0) } }

  private func snapshot(_ runtime: PipelineRuntime) -> PipelineSnapshot {
    let machine = runtime.machine
    var attention = machine.attention.map { ($0.code, $0.message, Optional(WallTime(milliseconds: $0.since))) }
    if attention == nil, let problem = machine.targetProblem {
      let code = problem == runtime.confinementProblem ? DiagnosticCode.deliveryUnconfined : .deliveryTargetMissing
      attention = (code.rawValue, problem, nil)
    }
    return PipelineSnapshot(
      id: runtime.id, state: machine.state(at: .now), totals: runtime.folder?.totals,
      lastSuccess: runtime.lastSuccess, lastVerdict: runtime.lastVerdict, attempts: machine.position.attempts,
      nextAttempt: machine.nextAttempt(boot: .now, wall: .now), stuckSince: machine.position.stuckSince,
      attention: attention, trouble: machine.diskProblem,
      sending: runtime.worker?.flight.flatMap { $0.isTest ? nil : runtime.artifact?.sequence })
  }
}
