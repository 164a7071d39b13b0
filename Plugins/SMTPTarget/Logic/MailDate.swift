// SPDX-License-Identifier: Apache-2.0

/// The Date field (RFC 5322, section 3.3), always in UTC.
enum MailDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  /// 9999-12-31T23:59:59Z.
  private static let last: Int64 = 253_402_300_799

  /// `milliseconds` since 1970; moments outside of the years 1970 to 9999 become the nearest inside.
  static func text(of milliseconds: Int64) -> String {
    let seconds = min(max(milliseconds / 1000, 0), last)
    let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days, for days from 1970 on.
    let shifted = day + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let fromMarch = (5 * dayOfYear + 2) / 153
    let month = fromMarch < 10 ? fromMarch + 2 : fromMarch - 10
    let year = yearOfEra + era * 400 + (month <= 1 ? 1 : 0)
    let time = [second / 3600, second / 60 % 60, second % 60].map { twoDigits($0) }.joined(separator: ":")
    let date = "\(dayOfYear - (153 * fromMarch + 2) / 5 + 1) \(months[Int(month)]) \(year)"
    return "\(days[Int((day + 4) % 7)]), \(date) \(time) +0000"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
