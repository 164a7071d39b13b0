// SPDX-License-Identifier: Apache-2.0

/// Takes decisions off a fuzzer's bytes, front to back; zeros when they are used up.
struct FuzzInput {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Two bytes.
  mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Exactly so many, zeros where there are none left.
  mutating func padded(_ count: Int) -> [UInt8] {
    let taken = bytes(count)
    return taken + [UInt8](repeating: 0, count: count - taken.count)
  }

  mutating func all() -> [UInt8] { bytes(rest.count) }
}

extension [UInt8] {
  /// With one bit turned over; which one, any number says.
  func flipped(_ choice: Int) -> [UInt8] {
    guard !isEmpty else { return self }
    var changed = self
    changed[choice / 8 % count] ^= 1 << UInt8(choice % 8)
    return changed
  }
}
