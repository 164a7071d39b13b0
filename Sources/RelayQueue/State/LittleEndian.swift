// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Appends numbers in little-endian order.
struct LittleEndianWriter {
  var bytes: [UInt8] = []

  mutating func put<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ identifier: Identifier?) {
    bytes.append(contentsOf: identifier?.bytes ?? [UInt8](repeating: 0, count: 16))
  }

  /// A moment; 0 stands for none.
  mutating func put(_ time: WallTime?) { put(time?.milliseconds ?? 0) }

  mutating func pad(to count: Int) {
    if bytes.count < count { bytes += [UInt8](repeating: 0, count: count - bytes.count) }
  }
}

/// Takes numbers in little-endian order; nil past the end.
struct LittleEndianReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
    guard let bytes = take(T.bitWidth / 8) else { return nil }
    return bytes.reversed().reduce(T.zero) { value, byte in value << 8 | T(truncatingIfNeeded: byte) }
  }

  mutating func identifier() -> Identifier? { take(16).flatMap { Identifier(bytes: Array($0)) } }

  /// A moment that is there (outer) and isn't none (inner).
  mutating func time() -> WallTime?? {
    guard let value = integer(Int64.self) else { return .none }
    return .some(value == 0 ? nil : WallTime(milliseconds: value))
  }
}
