// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Since when each file looks as it does now.
///
/// Counted on the clock that never steps, from when this program first saw the file so: no time written in the file
/// system says how long ago that was, since clocks are set and times can be.
struct QuietTable: Sendable {
  /// So many files are followed, in about 5 MB; further ones wait until others are gone.
  static let most = 1 << 17

  private var since: [Int: BootTime] = [:]
  private var seen: [Int: BootTime] = [:]

  /// Milliseconds for which the file has looked like this.
  mutating func quiet(_ key: Int, now: BootTime) -> Int64 {
    if let start = seen[key] { return now.milliseconds(since: start) }
    guard let start = since.removeValue(forKey: key) ?? (seen.count < Self.most ? now : nil) else { return 0 }
    seen[key] = start
    return now.milliseconds(since: start)
  }

  /// Forgets what was not seen since the last call: after each pass through the whole folder.
  mutating func endPass() {
    since = seen
    seen = [:]
  }
}
