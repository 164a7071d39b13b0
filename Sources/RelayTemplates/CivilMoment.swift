// SPDX-License-Identifier: Apache-2.0

/// An instant on the wall of a place, in the proleptic Gregorian calendar.
struct CivilMoment {
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
  private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  /// Since 1970 UTC.
  let seconds: Int64
  let zoneOffset: Int64
  let days: Int64
  let year: Int64
  let month: Int64
  let day: Int64
  let secondOfDay: Int64

  /// Nil outside of the years 1 to 9999, or with an offset of a day and more.
  init?(milliseconds: Int64, zoneOffset: Int64) {
    let seconds = Self.floored(milliseconds, 1000).quotient
    // Bounds first, so that nothing below can overflow.
    guard abs(seconds) < 400_000_000_000, (-86_399...86_399).contains(zoneOffset) else { return nil }
    let (days, secondOfDay) = Self.floored(seconds + zoneOffset, 86_400)
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: eras of 400 years from
    // 0000-03-01.
    let shifted = days + 719_468
    let (era, dayOfEra) = Self.floored(shifted, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    self.month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    self.day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    self.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    self.seconds = seconds
    self.zoneOffset = zoneOffset
    self.days = days
    self.secondOfDay = secondOfDay
    guard (1...9999).contains(year) else { return nil }
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// 0 is Sunday.
  private var weekday: Int64 { Self.floored(days + 4, 7).remainder }

  /// From 1.
  private var dayOfYear: Int64 {
    let before: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    return before[Int(month) - 1] + day + (month > 2 && Self.isLeap(year) ? 1 : 0)
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// Year and week by ISO 8601: the week belongs to the year of its Thursday.
  private var isoWeek: (year: Int64, week: Int64) {
    let thursday = dayOfYear + 4 - (weekday == 0 ? 7 : weekday)
    if thursday < 1 {
      let length: Int64 = Self.isLeap(year - 1) ? 366 : 365
      return (year - 1, (thursday + length - 1) / 7 + 1)
    }
    let length: Int64 = Self.isLeap(year) ? 366 : 365
    return thursday > length ? (year + 1, 1) : (year, (thursday - 1) / 7 + 1)
  }

  func field(_ code: Character, isPadded: Bool) -> String {
    let hour = secondOfDay / 3600
    func number(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return isPadded ? String(repeating: "0", count: max(0, width - digits.count)) + digits : digits
    }
    switch code {
    case "Y": return number(year, 4)
    case "m": return number(month, 2)
    case "d": return number(day, 2)
    case "H": return number(hour, 2)
    case "I": return number(hour % 12 == 0 ? 12 : hour % 12, 2)
    case "M": return number(secondOfDay / 60 % 60, 2)
    case "S": return number(secondOfDay % 60, 2)
    case "y": return number(year % 100, 2)
    case "j": return number(dayOfYear, 3)
    case "B": return Self.months[Int(month) - 1]
    case "b": return String(Self.months[Int(month) - 1].prefix(3))
    case "A": return Self.weekdays[Int(weekday)]
    case "a": return String(Self.weekdays[Int(weekday)].prefix(3))
    case "p": return hour < 12 ? "AM" : "PM"
    case "u": return String(weekday == 0 ? 7 : weekday)
    case "w": return String(weekday)
    case "G": return number(isoWeek.year, 4)
    case "V": return number(isoWeek.week, 2)
    case "F": return ["Y", "m", "d"].map { field($0, isPadded: true) }.joined(separator: "-")
    case "T": return ["H", "M", "S"].map { field($0, isPadded: true) }.joined(separator: ":")
    case "z":
      let minutes = abs(zoneOffset) / 60
      let digits = String(10_000 + minutes / 60 * 100 + minutes % 60).dropFirst()
      return (zoneOffset < 0 ? "-" : "+") + digits
    case "s": return String(seconds)
    default: return ""
    }
  }
}
