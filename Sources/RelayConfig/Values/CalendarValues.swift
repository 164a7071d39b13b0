// SPDX-License-Identifier: Apache-2.0

/// A day of the proleptic Gregorian calendar, in no time zone.
package struct CalendarDate: Equatable, Comparable, Sendable {
  package var year: Int
  package var month: Int
  package var day: Int

  /// Reads `2026-01-31`; nil unless the day exists.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      year > 0, (1...12).contains(month), (1...Self.length(of: month, in: year)).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  package var text: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }

  package static func < (left: CalendarDate, right: CalendarDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  private static func length(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// A time of day on the wall.
package struct TimeOfDay: Equatable, Sendable {
  package var hour: Int
  package var minute: Int

  /// Reads `06:30`.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(isDigit) }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    (self.hour, self.minute) = (hour, minute)
  }

  package var text: String { "\(padded(hour, 2)):\(padded(minute, 2))" }
}

package enum Weekday: String, CaseIterable, Sendable {
  case monday
  case tuesday
  case wednesday
  case thursday
  case friday
  case saturday
  case sunday

  package var short: String { String(rawValue.prefix(3)) }

  /// Takes `mon` and `monday`.
  package init?(name: String) {
    guard let day = Self.allCases.first(where: { $0.rawValue == name || $0.short == name }) else { return nil }
    self = day
  }
}

private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
