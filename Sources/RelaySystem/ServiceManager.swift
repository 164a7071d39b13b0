// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Tells systemd, or whoever started the program with NOTIFY_SOCKET set, how it stands (sd_notify(3)).
package enum ServiceManager {
  /// Lines such as `READY=1` or `STATUS=…`; without effect where nobody asked for them.
  package static func notify(_ lines: String...) {
    guard let address = getenv("NOTIFY_SOCKET") else { return }
    _ = relay_notify(address, lines.joined(separator: "\n"))
  }

  /// Whether so many descriptors can still be opened, about. Others may take them in the next moment.
  package static func hasRoom(forDescriptors wanted: UInt64) -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return true }
    // The kernel gives the lowest number that is free: below it none is.
    let lowest = dup(0)
    guard lowest >= 0 else { return false }
    close(lowest)
    return UInt64(lowest) + min(wanted, UInt64(limit.rlim_cur) / 4) < UInt64(limit.rlim_cur)
  }

  /// Raises the soft limit of open descriptors to the hard one: each pipeline keeps a few open.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(7), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(7), &limit)
  }
}
