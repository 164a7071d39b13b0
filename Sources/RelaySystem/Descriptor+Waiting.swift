// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Descriptor {
  /// Waits until something can be read, or the other end is gone; false when nothing came in time.
  package func waitReadable(milliseconds: Int64) throws(SystemError) -> Bool {
    let deadline = BootTime.now.advanced(milliseconds: milliseconds)
    while true {
      let rest = max(0, deadline.milliseconds(since: .now))
      var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      let ready = try invoke(.poll, on: path) { Int(Glibc.poll(&entry, 1, Int32(min(rest, 60_000)))) }
      if ready > 0 { return true }
      if rest == 0 { return false }
    }
  }

  /// Whether the other end of a connection is gone for good; one that only has nothing more to say isn't.
  package var isHungUp: Bool {
    var entry = pollfd(fd: number, events: 0, revents: 0)
    guard Glibc.poll(&entry, 1, 0) > 0 else { return false }
    return Int32(entry.revents) & (POLLHUP | POLLERR | POLLNVAL) != 0
  }
}
