// SPDX-License-Identifier: Apache-2.0

/// One event as a part lists it, its texts cleaned.
struct CalendarEvent: Equatable {
  /// What makes it the same event over all deliveries.
  var key: String
  /// One line.
  var title: String
  var time: EventTime
  var notes: String?
  var location: String?
}

enum EventTime: Equatable {
  /// Seconds since 1970; the end may be the start.
  case timed(start: Int64, end: Int64)
  /// Days since 1970, both included.
  case days(first: Int64, last: Int64)
}

/// What calendars can carry of a text.
enum CleanText {
  /// Line breaks are LF; other control characters go, but for the tab.
  static func lines(_ text: String) -> String {
    var clean = String.UnicodeScalarView()
    var afterReturn = false
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0d: clean.append("\n")
      case 0x0a: if !afterReturn { clean.append(scalar) }
      case 0x09: clean.append(scalar)
      case 0..<0x20, 0x7f...0x9f: break
      default: clean.append(scalar)
      }
      afterReturn = scalar.value == 0x0d
    }
    return String(clean)
  }

  /// The same with line breaks and tabs as spaces.
  static func line(_ text: String) -> String {
    String(String.UnicodeScalarView(lines(text).unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
  }
}
