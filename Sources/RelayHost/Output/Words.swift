// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON

/// Small things that every listing needs.
enum Words {
  static func bytes(_ count: Int64) -> String {
    if count < 1000 { return "\(count) B" }
    var value = Double(count)
    for unit in ["KB", "MB", "GB", "TB"] {
      value /= 1000
      if value < 999.5 || unit == "TB" {
        let tenths = Int64((value * 10).rounded())
        return value < 10 ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(Int64(value.rounded())) \(unit)"
      }
    }
    return "\(count) B"
  }

  static func count(_ number: Int64, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  /// Columns of equal width; the last one is as long as it likes.
  static func table(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { place, cell in
        place == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[place] - cell.count + 2)
      }.joined()
    }.joined(separator: "\n") + (rows.isEmpty ? "" : "\n")
  }

  static var isTerminal: Bool { isatty(1) == 1 }
}

extension JSONNode {
  /// A member as text; a dash where it is null or missing.
  func shown(_ name: String) -> String {
    guard let node = self[name] else { return "-" }
    return node.string ?? node.integer.map(String.init) ?? "-"
  }
}
