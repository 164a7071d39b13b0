// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Measures memory in a process in which other tests live, too.
package enum ResidentMemory {
  /// By how many kilobytes this process grew while `run` was looked at, the least of up to five times: others need memory as well,
  /// but not each time. It isn't run again once it was less than `limit`.
  ///
  /// - Parameter run: Calls what it gets whenever it is to be looked at.
  package static func leastGrowth(under limit: Int, _ run: (_ look: @escaping () -> Void) throws -> Void) rethrows
    -> Int
  {
    var least = Int.max
    for _ in 0..<5 where least >= limit {
      let before = kilobytes()
      let most = Box(before)
      try run { most.value = max(most.value, kilobytes()) }
      least = min(least, most.value - before)
    }
    return least
  }

  private final class Box {
    var value: Int
    init(_ value: Int) { self.value = value }
  }

  private static func kilobytes() -> Int {
    let status = (try? File.bytes(of: "/proc/self/status")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }
}
