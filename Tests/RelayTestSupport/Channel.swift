// SPDX-License-Identifier: Apache-2.0
import CRelayTestSupport
import Glibc

/// Descriptors for tests that speak to another process; all close-on-exec.
package enum Channel {
  package static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard relay_test_pipe(&ends) == 0 else { throw CallError("pipe2") }
    return (ends[0], ends[1])
  }

  package static func socketPair() throws -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    guard relay_test_socket_pair(&ends) == 0 else { throw CallError("socketpair") }
    return (ends[0], ends[1])
  }

  /// A file without a name, holding these bytes, at offset 0.
  package static func memoryFile(_ bytes: [UInt8] = []) throws -> Int32 {
    let file = relay_test_memory_file()
    guard file >= 0 else { throw CallError("memfd_create") }
    guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { throw CallError("pwrite") }
    return file
  }

  /// Sends all of them, the descriptors with the first byte.
  package static func send(_ bytes: [UInt8], descriptors: [Int32] = [], to socket: Int32) throws {
    guard relay_test_send(socket, bytes, bytes.count, descriptors, descriptors.count) == 0 else {
      throw CallError("sendmsg")
    }
  }
}
