// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Where the kernel tells of system calls that a confined process tries and must not make; each waits until it is answered.
///
/// Readable when one waits, hung up when nobody is left who could make one.
package struct SystemCallListener: Sendable {
  package let descriptor: Descriptor

  package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  /// Denies the next call that waits, with EPERM; its number, or nil when none waits. Never waits.
  package func denyNext() throws(SystemError) -> Int32? {
    var number: Int32 = 0
    let found = try invoke(.receive, on: descriptor.path) { Int(relay_deny_call(descriptor.number, EPERM, &number)) }
    return found > 0 ? number : nil
  }
}
