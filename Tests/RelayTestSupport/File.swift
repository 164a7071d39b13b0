// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A failed call, with its errno.
package struct CallError: Error, CustomStringConvertible {
  package let call: String
  package let number: Int32

  package init(_ call: String, _ number: Int32 = errno) {
    self.call = call
    self.number = number
  }

  package var description: String { "\(call): \(String(cString: strerror(number)))" }
}

package enum File {
  /// - Parameter offset: in bytes; what is before it is left out.
  package static func bytes(of path: String, from offset: Int = 0) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw CallError("open \(path)") }
    defer { close(file) }
    guard offset == 0 || lseek(file, offset, SEEK_SET) >= 0 else { throw CallError("lseek \(path)") }
    return try bytes(from: file)
  }

  /// All that comes until the end.
  package static func bytes(from file: Int32) throws -> [UInt8] {
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw CallError("read") }
      if count == 0 { return result }
      result += chunk[..<count]
    }
  }

  package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CallError("open \(path)") }
    defer { close(file) }
    let all = Array(bytes)
    var done = 0
    while done < all.count {
      let count = all[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw CallError("write \(path)") }
      done += count
    }
  }

  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
