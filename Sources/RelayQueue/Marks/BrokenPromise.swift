// SPDX-License-Identifier: Apache-2.0
#if RELAY_BROKEN
  import Glibc

  /// Which promise is to be broken in this run (`make simulate-broken`).
  package enum BrokenPromise {
    /// What the environment's RELAY_BREAK names.
    package static let name = getenv("RELAY_BREAK").map { String(cString: $0) }
  }
#endif
