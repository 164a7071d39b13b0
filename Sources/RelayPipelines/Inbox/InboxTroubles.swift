// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// What was said already, and which files are tried again only later.
struct InboxTroubles: Sendable {
  /// So many are remembered; then all of them are forgotten, said and tried again.
  static let most = 4096
  /// So many lines a look; the rest is counted in one.
  static let mostLines = 20
  /// In milliseconds; doubles with each failure.
  static let firstPause: Int64 = 30_000
  static let longestPause: Int64 = 600_000

  private struct Pause: Sendable {
    var length: Int64
    var until: BootTime
    /// In words, with the file's name.
    var reason: String
  }

  private var said: Set<Int> = []
  private var pauses: [Int: Pause] = [:]
  private var lines = 0
  private var unsaid = 0

  /// Whether to say this now: the first time, and while there are lines left.
  mutating func isNews(_ key: Int) -> Bool {
    if said.count >= Self.most { said = [] }
    guard said.insert(key).inserted else { return false }
    lines += 1
    if lines <= Self.mostLines { return true }
    unsaid += 1
    return false
  }

  /// How many were not said for want of lines, since the last look.
  mutating func endLook() -> Int {
    defer { (lines, unsaid) = (0, 0) }
    return unsaid
  }

  /// Milliseconds for which a file isn't tried; nil when it may be.
  func pause(of key: Int, now: BootTime) -> Int64? {
    guard let until = pauses[key]?.until, until > now else { return nil }
    return max(1, until.milliseconds(since: now))
  }

  /// Why a file isn't tried for now.
  func reason(of key: Int) -> String? { pauses[key]?.reason }

  mutating func failed(_ key: Int, because reason: String, now: BootTime) -> Int64 {
    if pauses.count >= Self.most { pauses = [:] }
    let length = min(Self.longestPause, pauses[key].map { $0.length * 2 } ?? Self.firstPause)
    pauses[key] = Pause(length: length, until: now.advanced(milliseconds: length), reason: reason)
    return length
  }
}
