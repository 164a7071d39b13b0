// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol

/// The checksum that ties the bytes a worker hands out to those that the host hashed; any chunking gives the same value.
package struct PartChecksum: Sendable {
  private var sum = relay_checksum_start()

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    relay_checksum_update(&sum, base, UInt64(bytes.count))
  }

  package var value: UInt64 {
    withUnsafePointer(to: sum) { relay_checksum_value($0) }
  }
}
