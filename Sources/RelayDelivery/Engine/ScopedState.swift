// SPDX-License-Identifier: Apache-2.0
import RelayQueue

/// What a target saved, seen from one delivery: what an earlier delivery left behind in its own scope isn't there. A check
/// has no delivery, so it has no such scope either.
///
/// The delivery's scope holds whose it is under a key that no target can use, so a crash between the end of a delivery
/// and the erasing of its state can't hand that state to the next one.
struct ScopedState: Sendable {
  private static let owner: [UInt8] = [1] + Array("delivery".utf8)

  let state: TargetState
  /// nil in a check.
  let deliveryID: String?

  func get(_ scope: TargetStateScope, _ key: String) throws(TargetStateError) -> [UInt8]? {
    if scope == .delivery, try !isOwn() { return nil }
    return try state.get(scope, Array(key.utf8))
  }

  func next(_ scope: TargetStateScope, after key: String) throws(TargetStateError) -> [UInt8]? {
    if scope == .delivery, try !isOwn() { return nil }
    let found = state.next(scope, after: Array(key.utf8))
    return found == Self.owner ? state.next(scope, after: Self.owner) : found
  }

  func put(_ scope: TargetStateScope, _ key: String, _ value: [UInt8]) throws(TargetStateError) {
    try checkKey(key)
    if scope == .delivery, try !isOwn() {
      try state.eraseDeliveryScope()
      try state.put(.delivery, Self.owner, owner())
    }
    try state.put(scope, Array(key.utf8), value)
  }

  func remove(_ scope: TargetStateScope, _ key: String) throws(TargetStateError) {
    try checkKey(key)
    if scope == .delivery, try !isOwn() { return }
    try state.remove(scope, Array(key.utf8))
  }

  private func isOwn() throws(TargetStateError) -> Bool {
    let own = try owner()
    return try state.get(.delivery, Self.owner) == own
  }

  private func owner() throws(TargetStateError) -> [UInt8] {
    guard let deliveryID else { throw .badKey }
    return Array(deliveryID.utf8)
  }

  private func checkKey(_ key: String) throws(TargetStateError) {
    if key.utf8.first == 1 { throw .badKey }
  }
}
