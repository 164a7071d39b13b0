// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// What people and the configuration say.
extension DeliveryMachine {
  mutating func command(_ event: DeliveryEvent, _ now: Moment) {
    // What a person says before the disk was read is about what the disk says: it waits.
    if activity == .loading, event.needsLoadedState { return early.append(event) }
    switch event {
    case .pause(let byCommand, let byConfiguration):
      if let byConfiguration { isPausedByConfiguration = byConfiguration }
      if let byCommand {
        isPausedByCommand = byCommand
        // Also when it is no news: the last time it may not have got onto the disk.
        save()
      }
    case .resume:
      isPausedByCommand = false
      attention = nil
      forgiveMisbehaviour()
      endWait(now)
      save()
    case .tryNow:
      endWait(now)
      if Broken.promise(.tryNowHolds) { attention = nil }
    case .drop(let sequence):
      guard queue.contains(sequence) else { return }
      toDrop.insert(sequence)
      if case .sending = activity, head?.sequence == sequence { cancel() }
    case .rules(let new): rules = new
    case .target(let problem):
      if problem == nil && targetProblem != nil { endWait(now) }
      targetProblem = problem
    case .openAnew: isToOpenAnew = true
    case .changed:
      if attention != nil {
        attention = nil
        save()
      }
      forgiveMisbehaviour()
      endWait(now)
      actions.append(.dismissWorker)
    case .testRequested: isTestWanted = true
    case .testEnded(let passed):
      guard activity == .testing else { return }
      activity = .none
      if passed && attention != nil {
        attention = nil
        endWait(now)
        save()
      }
    case .stopping: isStopping = true
    case .cancel: if case .sending = activity { cancel() }
    default: break
    }
  }

  /// Something was mended, or so a person says: the target begins with a clean record.
  mutating func forgiveMisbehaviour() {
    position.rowMisbehaviours = 0
    position.partMisbehaviours = 0
  }

  /// Ends a wait for the receiver or the disk. The spacing between deliveries isn't one: it is what the receiver may
  /// count on.
  mutating func endWait(_ now: Moment) {
    let last = Broken.promise(.spacingStays) ? nil : lastDelivery
    notBefore = max(now.boot, last?.advanced(milliseconds: rules.spacing) ?? now.boot)
    readAgain = now.boot
  }

  private mutating func cancel() {
    guard !isCancelWanted else { return }
    isCancelWanted = true
    actions.append(.cancel)
  }
}

extension DeliveryEvent {
  fileprivate var needsLoadedState: Bool {
    switch self {
    case .pause(let byCommand, _): byCommand != nil
    case .resume, .tryNow, .drop, .changed, .testRequested: true
    default: false
    }
  }
}

/// What `status` shows.
extension DeliveryMachine {
  package enum State: String, Sendable {
    case idle, queued, running, delivering, waiting, late
    case needsAttention = "needs-attention"
    case paused
  }

  package func state(at now: BootTime) -> State {
    if attention != nil || targetProblem != nil { return .needsAttention }
    if isPaused { return .paused }
    switch activity {
    case .sending, .testing: return .delivering
    case .marking(owed: true), .moveOwed: return .waiting
    default: break
    }
    if queue.isEmpty { return activity == .loading ? .queued : .idle }
    return isWaitingLonger(than: now) ? .waiting : .queued
  }

  /// Whether it is a failure that it waits for, not the spacing.
  private func isWaitingLonger(than now: BootTime) -> Bool {
    now < notBefore && (position.attempts > 0 || diskProblem != nil)
  }

  /// When the next attempt is due, as the wall clock stands; nil when nothing waits.
  package func nextAttempt(boot: BootTime, wall: WallTime) -> WallTime? {
    guard !queue.isEmpty, !isHeld, isWaitingLonger(than: boot) else { return nil }
    return wall.advanced(milliseconds: notBefore.milliseconds(since: boot))
  }

  package var isBusy: Bool {
    switch activity {
    case .none, .loading, .marking(owed: true), .moveOwed: return false
    default: return true
    }
  }

  package var isMarking: Bool { if case .marking = activity { true } else { false } }
  package var isTesting: Bool { activity == .testing }
  package func isSending(_ number: UInt64) -> Bool { activity == .sending(number) }

  /// For what is found out before the machine knows anything.
  package mutating func noteDiskProblem(_ text: String) { diskProblem = text }

  /// The timer that was set has been taken away by somebody else.
  package mutating func forgetTimer() { timer = nil }
}
