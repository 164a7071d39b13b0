// SPDX-License-Identifier: Apache-2.0

/// Durations and sizes as people write them: a whole number and a unit.
package enum Quantity {
  /// Milliseconds a unit, from small to large.
  private static let durationUnits: [(name: String, factor: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
  ]

  /// Bytes a unit: decimal, as disks and clouds count.
  private static let sizeUnits: [(name: String, factor: Int64)] = [
    ("B", 1), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
  ]

  /// `500ms 30s 15m 6h 2d 1w` in milliseconds; nil for anything else and for what 64 bits can't hold.
  package static func duration(_ text: String) -> Int64? { value(text, durationUnits) }

  /// `64KB 10MB 2GB` in bytes; nil for anything else and for what 64 bits can't hold.
  package static func size(_ text: String) -> Int64? { value(text, sizeUnits) }

  /// A duration in its largest whole unit: 90 000 ms is `90s`.
  package static func text(milliseconds: Int64) -> String { text(milliseconds, durationUnits) }

  /// A size in its largest whole unit.
  package static func text(bytes: Int64) -> String { text(bytes, sizeUnits) }

  private static func value(_ text: String, _ units: [(name: String, factor: Int64)]) -> Int64? {
    let digits = text.utf8.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard !digits.isEmpty, let number = Int64(String(Substring(digits))) else { return nil }
    let unit = Array(text.utf8.dropFirst(digits.count))
    guard let factor = units.first(where: { Array($0.name.utf8) == unit })?.factor else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }

  private static func text(_ value: Int64, _ units: [(name: String, factor: Int64)]) -> String {
    let unit = value == 0 ? units[min(1, units.count - 1)] : units.last { value % $0.factor == 0 } ?? units[0]
    return "\(value / unit.factor)\(unit.name)"
  }
}
