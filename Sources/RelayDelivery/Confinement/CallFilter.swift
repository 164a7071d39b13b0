// SPDX-License-Identifier: Apache-2.0

/// The filters of system calls, made beforehand by `relay-worker filter`, and the names of the calls that they tell of.
package struct CallFilter: Equatable, Sendable {
  /// What every worker is handed; empty: each makes its own.
  package private(set) var programs: [UInt8] = []
  /// By number.
  package private(set) var names: [Int32: String] = [:]

  /// Those that the kernel carries out, by number.
  private(set) var watched: [Int32: WatchedCall] = [:]

  /// Leaves it to the workers, and calls without names.
  package init() {}

  /// Three times a count and so many instructions of eight bytes; a count and so often number, length and name. All or nothing.
  package init?(printed bytes: [UInt8]) {
    var reader = NativeReader(rest: bytes[...])
    for _ in 1...3 {
      guard let count = reader.number(), count > 0, reader.bytes(8 * Int(count)) != nil else { return nil }
    }
    programs = Array(bytes.prefix(bytes.count - reader.rest.count))
    guard let count = reader.number() else { return nil }
    for _ in 0..<count {
      guard let number = reader.number(), let length = reader.number(), let name = reader.bytes(Int(length)) else {
        return nil
      }
      names[Int32(truncatingIfNeeded: number)] = String(decoding: name, as: UTF8.self)
    }
    guard reader.rest.isEmpty else { return nil }
    watched = names.compactMapValues { WatchedCall.byName[$0] }
  }
}

/// Numbers of 32 bits as this machine has them.
private struct NativeReader {
  var rest: ArraySlice<UInt8>

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func number() -> UInt32? {
    guard let four = bytes(4) else { return nil }
    var number: UInt32 = 0
    withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: four) }
    return number
  }
}
