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

  /// Raises the soft limit of open descriptors to the hard one: each pipeline keeps a few open.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(7), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(7), &limit)
  }
}
