// SPDX-License-Identifier: Apache-2.0
import Glibc

enum Clock {
  /// Milliseconds since some moment, for waits.
  static func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// How long a silence is borne, counted from the last byte that moved.
struct Patience: Equatable {
  /// Milliseconds.
  let limit: Int64
  private var since: Int64
  private var moved: UInt64?

  init(milliseconds limit: Int64, now: Int64) {
    self.limit = limit
    since = now
  }

  /// `bytes` is any count that only grows while something moves; the first one is where counting begins.
  mutating func saw(_ bytes: UInt64, now: Int64) -> Bool {
    defer { moved = bytes }
    guard let moved, bytes != moved else { return false }
    since = now
    return true
  }

  /// Milliseconds that are left; nil when there are none.
  func remaining(now: Int64) -> Int64? {
    let left = limit - (now - since)
    return left > 0 ? left : nil
  }
}
