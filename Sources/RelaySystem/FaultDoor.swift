// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A call that a test makes fail: the nth one of its kind on paths that contain a text.
package struct Fault: Sendable {
  /// What happens to the call.
  package enum Effect: Sendable {
    case fails(Int32)
    /// A read or write moves at most this many bytes.
    case short(Int)
  }

  /// nil is any call.
  package var call: SystemCall?
  package var subjectContains: String
  package var effect: Effect
  /// How many matching calls pass before it strikes.
  package var after: Int
  /// How many calls it strikes.
  package var times: Int

  package init(_ call: SystemCall?, on subject: String, _ effect: Effect, after: Int = 0, times: Int = .max) {
    self.call = call
    self.subjectContains = subject
    self.effect = effect
    self.after = after
    self.times = times
  }
}

/// The door through which every kernel call of this module goes, so that a test can make any of them fail.
///
/// Faults are matched by path, so tests that run side by side with folders of their own don't meet.
package enum FaultDoor {
  private static let isArmed = Atomic<Bool>(false)
  private static let faults = Mutex<[Int: Fault]>([:])
  private static let lastKey = Atomic<Int>(0)

  /// Runs `body` with the faults in force.
  @discardableResult
  package static func with<T>(_ wanted: [Fault], _ body: () throws -> T) rethrows -> T {
    let keys = wanted.map { fault in
      let key = lastKey.wrappingAdd(1, ordering: .relaxed).newValue
      faults.withLock { $0[key] = fault }
      return key
    }
    isArmed.store(true, ordering: .releasing)
    defer {
      faults.withLock { all in
        for key in keys { all[key] = nil }
        if all.isEmpty { isArmed.store(false, ordering: .releasing) }
      }
    }
    return try body()
  }

  static func effect(on call: SystemCall, _ subject: @autoclosure () -> String) -> Fault.Effect? {
    guard isArmed.load(ordering: .acquiring) else { return nil }
    let subject = subject()
    return faults.withLock { all in
      for (key, fault) in all
      where (fault.call ?? call) == call && subject.contains(fault.subjectContains) {
        if fault.after > 0 {
          all[key]?.after -= 1
        } else if fault.times > 0 {
          all[key]?.times -= 1
          return fault.effect
        }
      }
      return nil
    }
  }
}

/// Makes one kernel call: again when a signal cut it short, and never for real where a test said it fails.
@discardableResult
func invoke(
  _ call: SystemCall, on subject: @autoclosure () -> String, _ body: () -> Int
) throws(SystemError) -> Int {
  if case .fails(let code)? = FaultDoor.effect(on: call, subject()) {
    throw SystemError(call: call, code: code, subject: subject())
  }
  while true {
    let result = body()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw SystemError(call: call, code: code, subject: subject()) }
  }
}
