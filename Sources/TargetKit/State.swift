// SPDX-License-Identifier: Apache-2.0
import TargetABI

/// Small values that a target keeps; each is on disk when `put` returns.
public struct State {
  public enum Scope: Int32, Sendable {
    /// As long as the pipeline lives.
    case pipeline = 0
    /// Until this delivery's final verdict.
    case delivery = 1
  }

  let scope: Scope
  let host: Host

  public func get(_ key: String) throws(Verdict) -> [UInt8]? {
    try host.bytes(key, of: "state") { $0.stateGet(scope.rawValue, key) }
  }

  public func put(_ key: String, _ value: [UInt8]) throws(Verdict) {
    switch host.withTable({ $0.statePut(scope.rawValue, key, value) }) {
    case RELAY_OK?: return
    case RELAY_DENIED?:
      // Trying again would not help: it is too much for one value, or for all that a pipeline may keep.
      throw .needsAttention(
        .other, "the host takes no more state: 64 KB for one value and 16 MB for all of a pipeline are the most")
    default: throw .retry(.other, "the host could not save the state \"\(key)\"; is its disk full?")
    }
  }

  public func put(_ key: String, _ value: String) throws(Verdict) {
    try put(key, Array(value.utf8))
  }

  /// Removing what is absent succeeds.
  public func delete(_ key: String) throws(Verdict) {
    let answer = host.withTable { $0.stateDelete(scope.rawValue, key) }
    guard answer == RELAY_OK || answer == RELAY_ABSENT else {
      throw .retry(.other, "the host could not delete the state \"\(key)\"")
    }
  }

  /// The first key after `key` in order; "" gives the first of all.
  public func key(after key: String) throws(Verdict) -> String? {
    try host.bytes(key, of: "state") { $0.stateNext(scope.rawValue, key) }.map { String(decoding: $0, as: UTF8.self) }
  }
}
