// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Asks until the condition holds, for some seconds at most; false if it never did.
///
/// For what another process or thread does in its own time.
package func eventually(within seconds: Double = 10, _ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = monotonicSeconds() + seconds * Sanitizer.slowness
  while true {
    if try condition() { return true }
    if monotonicSeconds() > deadline { return false }
    usleep(2000)
  }
}

/// Seconds of the monotonic clock.
package func monotonicSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
