// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem
import TargetABI

/// An answer to what a target asked, and what travels with it.
package struct TargetAnswer: Sendable {
  package var message: HostMessage
  package var descriptors: [Descriptor] = []
}

/// Answers what a target asks of the host during a call, the same in a delivery and in a check.
package enum TargetRequests {
  /// From what the target saved; nil for what asks for something else. Blocking.
  ///
  /// - Parameters:
  ///   - state: nil where it can't be read.
  ///   - deliveryID: nil in a check.
  package static func answer(_ message: WorkerMessage, from state: TargetState?, deliveryID: String?) -> TargetAnswer? {
    let work: (ScopedState) throws(TargetStateError) -> [UInt8]?
    switch message {
    case .stateGet(let scope, let key):
      work = { (state) throws(TargetStateError) in try state.get(scope.kept, key) }
    case .stateNext(let scope, let after):
      work = { (state) throws(TargetStateError) in try state.next(scope.kept, after: after) }
    case .statePut(let scope, let key, let value):
      work = { (state) throws(TargetStateError) in
        try state.put(scope.kept, key, value)
        return []
      }
    case .stateDelete(let scope, let key):
      work = { (state) throws(TargetStateError) in
        try state.remove(scope.kept, key)
        return []
      }
    default: return nil
    }
    guard let state else { return TargetAnswer(message: .stateAnswer(code: RELAY_FAILED, value: [])) }
    let (code, value) = outcome(of: work, ScopedState(state: state, deliveryID: deliveryID))
    return TargetAnswer(message: .stateAnswer(code: code, value: value))
  }

  /// A new file without a name in a folder.
  package static func scratch(in folder: Directory?) -> TargetAnswer {
    guard let file = try? folder?.unnamedFile() else {
      return TargetAnswer(message: .scratchAnswer(code: RELAY_FAILED))
    }
    return TargetAnswer(message: .scratchAnswer(code: RELAY_OK), descriptors: [file])
  }

  /// All that a target may ask during a check. Blocking.
  package static func answerCheck(_ message: WorkerMessage, from state: TargetState?, scratch folder: Directory?)
    -> TargetAnswer?
  {
    switch message {
    case .scratch: scratch(in: folder)
    // There is no part whose bytes could be right.
    case .verify: TargetAnswer(message: .verifyAnswer(code: RELAY_FAILED, checksum: 0))
    default: answer(message, from: state, deliveryID: nil)
    }
  }

  /// nil is "not there".
  private static func outcome(
    of work: (ScopedState) throws(TargetStateError) -> [UInt8]?, _ state: ScopedState
  ) -> (Int32, [UInt8]) {
    do throws(TargetStateError) {
      return try work(state).map { (RELAY_OK, $0) } ?? (RELAY_ABSENT, [])
    } catch {
      switch error {
      case .badKey, .valueTooLong, .full: return (RELAY_DENIED, [])
      case .damaged, .notSaved, .system: return (RELAY_FAILED, [])
      }
    }
  }
}

extension WorkerMessage {
  /// Whether the worker waits for an answer to it.
  var isRequest: Bool {
    switch self {
    case .stateGet, .statePut, .stateDelete, .stateNext, .scratch, .verify: true
    default: false
    }
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
