// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Dates and instants, as ISO 8601 writes them and as iCalendar does.
///
/// Days and seconds count from 1970-01-01; years from 1 to 9999.
enum CivilTime {
  static let secondsPerDay: Int64 = 86_400

  enum Instant: Equatable {
    case at(Int64)
    /// A date and a time, but no word on where on Earth.
    case withoutOffset
    case unreadable
  }

  /// A date such as "2026-03-28"; nil for anything else.
  static func day(_ text: String) -> Int64? {
    var digits = Digits(text)
    guard let date = digits.date(), digits.isAtEnd else { return nil }
    return seconds(date, (0, 0, 0)).map { $0 / secondsPerDay - ($0 % secondsPerDay < 0 ? 1 : 0) }
  }

  /// A date, T, a time and an offset: "2026-03-28T10:00:00+01:00", "…Z".
  ///
  /// Seconds may be absent, their fraction is cut off; a leap second is the first one of the next minute, as in Unix time.
  static func instant(_ text: String) -> Instant {
    var digits = Digits(text)
    guard let date = digits.date(), digits.take("T") || digits.take("t"), let hour = digits.number(2), hour < 24,
      digits.take(":"), let minute = digits.number(2), minute < 60
    else { return .unreadable }
    var second: Int32 = 0
    if digits.take(":") {
      guard let read = digits.number(2), read <= 60 else { return .unreadable }
      second = read
      if digits.take(".") || digits.take(",") {
        guard digits.skipDigits() else { return .unreadable }
      }
    }
    let leap: Int64 = second == 60 ? 1 : 0
    guard let local = seconds(date, (hour, minute, min(second, 59))).map({ $0 + leap }) else { return .unreadable }
    if digits.isAtEnd { return .withoutOffset }
    guard let offset = digits.offset(), digits.isAtEnd else { return .unreadable }
    let instant = local - offset
    return years.contains(instant) ? .at(instant) : .unreadable
  }

  /// "20260328"
  static func basicDate(day: Int64) -> String {
    String(basic(seconds: day * secondsPerDay).prefix(8))
  }

  /// "20260328T090000Z"
  static func basic(seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&time, &parts) != nil else { return "19700101T000000Z" }
    func padded(_ number: Int32, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    return padded(parts.tm_year + 1900, 4) + padded(parts.tm_mon + 1, 2) + padded(parts.tm_mday, 2) + "T"
      + padded(parts.tm_hour, 2) + padded(parts.tm_min, 2) + padded(parts.tm_sec, 2) + "Z"
  }

  /// All that iCalendar's four digits of a year can say.
  static let years: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  private static func seconds(_ date: (Int32, Int32, Int32), _ time: (Int32, Int32, Int32)) -> Int64? {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (date.0 - 1900, date.1 - 1, date.2)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = time
    let seconds = Int64(timegm(&parts))
    // timegm makes a day of March out of the 30th of February.
    guard parts.tm_mon == date.1 - 1, parts.tm_mday == date.2, years.contains(seconds) else { return nil }
    return seconds
  }
}

/// Reads a text of digits and marks from its front.
private struct Digits {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ mark: Unicode.Scalar) -> Bool {
    guard let first = rest.first, UInt32(first) == mark.value else { return false }
    rest.removeFirst()
    return true
  }

  /// Exactly so many digits.
  mutating func number(_ count: Int) -> Int32? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest.removeFirst(count)
    return Int32(String(decoding: digits, as: UTF8.self))
  }

  mutating func skipDigits() -> Bool {
    let digits = rest.prefix { Self.isDigit($0) }
    rest.removeFirst(digits.count)
    return !digits.isEmpty
  }

  mutating func date() -> (Int32, Int32, Int32)? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else { return nil }
    return (year, month, day)
  }

  /// Seconds east of Greenwich: "Z", "+01:00", "+0100", "+01".
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = number(2), hours < 24 else { return nil }
    var minutes: Int32 = 0
    if take(":") || !isAtEnd {
      guard let read = number(2), read < 60 else { return nil }
      minutes = read
    }
    return sign * (Int64(hours) * 3600 + Int64(minutes) * 60)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
