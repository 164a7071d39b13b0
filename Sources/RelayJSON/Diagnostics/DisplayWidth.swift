// SPDX-License-Identifier: Apache-2.0

/// How many columns of a terminal a character takes, as far as a caret needs it.
enum DisplayWidth {
  /// Columns shown of a long line.
  private static let window = 160

  /// The part of a line around a column, and the line that puts a caret under it.
  ///
  /// Tabs stay tabs in both.
  static func excerpt(of line: String, column: Int) -> (line: String, caret: String) {
    let scalars = Array(line.unicodeScalars)
    let target = min(max(column - 1, 0), scalars.count)
    var start = 0
    var end = scalars.count
    if scalars.count > window {
      start = max(0, min(target - window / 2, scalars.count - window))
      end = min(scalars.count, start + window)
    }
    var shown = start > 0 ? "…" : ""
    var caret = start > 0 ? " " : ""
    for (place, scalar) in scalars[start..<end].enumerated() {
      let isControl = scalar != "\t" && PrintableText.isControl(scalar)
      let visible: Unicode.Scalar = isControl ? "\u{FFFD}" : scalar
      shown.unicodeScalars.append(visible)
      guard start + place < target else { continue }
      caret += scalar == "\t" ? "\t" : String(repeating: " ", count: columns(visible))
    }
    if end < scalars.count { shown += "…" }
    return (shown, caret + "^")
  }

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    // The blocks that Unicode's EastAsianWidth.txt calls wide or fullwidth, joined to a few ranges.
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
