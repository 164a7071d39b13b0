// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

@testable import RelayDelivery

/// Drives a delivery machine with a disk that does what it is told and a clock that a test moves.
struct MachineHarness {
  var machine: DeliveryMachine
  var boot = BootTime(nanoseconds: 0)
  var wall = WallTime(milliseconds: 1_800_000_000_000)
  var chance = 0.5
  /// Artifacts on the "disk": sequence to number of parts.
  var artifacts: [UInt64: UInt32] = [:]
  /// The last position that was written durably.
  var marked = MarkRecord()
  var savedAttention: Attention?
  var savedPause = false
  var marksFail = false
  var movesFail = false
  var isUnreadable = false
  /// Places are granted when the test says so.
  var placesAreShort = false
  /// What is in flight.
  var sending: (number: UInt64, sequence: UInt64, part: UInt32, attempt: UInt32)?
  /// Everything the machine wanted, in order.
  var done: [DeliveryAction] = []
  var sent: [String] = []
  /// Records that were asked for when their artifact, and with it what it is called, was gone.
  var recordsTooLate = 0

  init(rules: DeliveryRules = DeliveryRules(fingerprint: "f"), artifacts: [UInt64: UInt32] = [:]) {
    machine = DeliveryMachine(rules: rules)
    self.artifacts = artifacts
  }

  mutating func start() {
    handle(
      .loaded(queue: artifacts.keys.sorted(), position: marked, attention: savedAttention, pausedByCommand: savedPause))
  }

  /// A new machine over the same disk, as after a crash.
  mutating func crash() {
    machine = DeliveryMachine(rules: machine.rules)
    sending = nil
    start()
  }

  mutating func submit(_ sequence: UInt64, parts: UInt32 = 1) {
    artifacts[sequence] = parts
    handle(.committed(sequence: sequence))
  }

  mutating func handle(_ event: DeliveryEvent) {
    var events = [event]
    while !events.isEmpty {
      let next = events.removeFirst()
      for action in machine.handle(next, at: .init(boot: boot, wall: wall, chance: chance)) {
        done.append(action)
        events += perform(action)
      }
    }
  }

  private mutating func perform(_ action: DeliveryAction) -> [DeliveryEvent] {
    switch action {
    case .open(let sequence):
      if isUnreadable { return [.unreadable(sequence: sequence, reason: "input/output error")] }
      return [.opened(.init(sequence: sequence, artifact: artifact(sequence), partCount: artifacts[sequence] ?? 1))]
    case .requestPlace: return placesAreShort ? [] : [.placeGranted]
    case .send(let number, let sequence, let part, let attempt):
      sending = (number, sequence, part, attempt)
      sent.append("\(sequence).\(part)")
    case .record(let sequence, _, _, _, _): if artifacts[sequence] == nil { recordsTooLate += 1 }
    case .mark(let position):
      if marksFail { return [.markFailed(reason: "disk full")] }
      marked = position
      return [.marked]
    case .moveToCorrupt(let sequence, _), .setAside(let sequence, _, _, _):
      if movesFail { return [.moveFailed(sequence: sequence, reason: "disk full")] }
      artifacts[sequence] = nil
      return [.movedAway(sequence: sequence)]
    case .remove(let sequences):
      for sequence in sequences { artifacts[sequence] = nil }
      return [.removed(sequences: sequences)]
    case .save(let attention, let paused):
      savedAttention = attention
      savedPause = paused
    default: break
    }
    return []
  }

  mutating func answer(_ code: DeliveryVerdict.Code, maybe: Bool = false, after: UInt64 = 0, message: String = "") {
    guard let number = sending?.number else { return }
    sending = nil
    handle(
      .verdict(
        number: number, DeliveryVerdict(code, retryAfterMilliseconds: after, maybeDelivered: maybe, message: message)))
  }

  /// Moves both clocks and lets the timer fire if it is due.
  mutating func pass(milliseconds: Int64) {
    boot = boot.advanced(milliseconds: milliseconds)
    wall = wall.advanced(milliseconds: milliseconds)
    if let timer = machine.timer, timer <= boot { handle(.timer) }
  }

  /// Of the last attempt's record.
  var lastMessage: String? {
    done.reversed().lazy.compactMap { if case .record(_, _, _, let verdict, _) = $0 { verdict.message } else { nil } }
      .first
  }

  /// How long it waits now, in milliseconds; nil when it doesn't.
  var wait: Int64? { machine.timer?.milliseconds(since: boot) }
}

/// Always the same identifier for a sequence.
private func artifact(_ sequence: UInt64) -> Identifier {
  Identifier(bytes: (0..<16).map { UInt8(truncatingIfNeeded: sequence >> UInt64(8 * ($0 % 8))) }) ?? .random()
}
