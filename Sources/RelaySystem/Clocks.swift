// SPDX-License-Identifier: Apache-2.0
import CRelaySystem

/// A moment on CLOCK_BOOTTIME, in nanoseconds since the machine started: goes on during a suspend, never steps.
///
/// What waits in this program waits on this clock; it is never written to disk.
package struct BootTime: Comparable, Hashable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static var now: BootTime { BootTime(nanoseconds: relay_clock(7)) }

  package static func < (left: BootTime, right: BootTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The moment `milliseconds` later; far-away moments stop at the end of the scale.
  package func advanced(milliseconds: Int64) -> BootTime {
    let (step, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, tooFar) = nanoseconds.addingReportingOverflow(step)
    return BootTime(nanoseconds: tooLong || tooFar ? (milliseconds < 0 ? .min : .max) : sum)
  }

  /// Milliseconds from `earlier` to this moment, rounded down.
  package func milliseconds(since earlier: BootTime) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return overflow ? (nanoseconds < 0 ? .min / 1_000_000 : .max / 1_000_000) : difference / 1_000_000
  }
}

/// A moment of the wall clock, in milliseconds since 1970 (UTC): for people and for what is written down; it may step.
package struct WallTime: Comparable, Hashable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static var now: WallTime { WallTime(milliseconds: relay_clock(0) / 1_000_000) }

  package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

  package func advanced(milliseconds step: Int64) -> WallTime {
    let (sum, overflow) = milliseconds.addingReportingOverflow(step)
    return WallTime(milliseconds: overflow ? (step < 0 ? .min : .max) : sum)
  }

  /// Milliseconds from `earlier` to this moment; distances beyond the scale stop at its ends.
  package func milliseconds(since earlier: WallTime) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    return overflow ? (milliseconds < 0 ? .min : .max) : difference
  }

  /// Seconds east of UTC that the machine's zone has at this moment.
  package var localOffset: Int32 { relay_local_offset(milliseconds / 1000) }
}

extension WallTime {
  /// 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z: the years of four digits.
  private static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// As RFC 3339 in UTC, for example `2026-11-30T10:00:00Z`, or with milliseconds. A moment of another year than 0 to 9999 is
  /// written as the nearest one of these, so that what is written can be read.
  package func text(milliseconds withMilliseconds: Bool = false) -> String {
    let moment = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
    let (floor, rest) = moment.quotientAndRemainderFloored(by: 1000)
    let (days, second) = floor.quotientAndRemainderFloored(by: 86400)
    let date = CivilDate(daysSince1970: days)
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let fraction = withMilliseconds ? ".\(padded(rest, 3))" : ""
    return
      "\(padded(date.year, 4))-\(two(date.month))-\(two(date.day))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))\(fraction)Z"
  }

  /// Reads what `text` writes; nil for anything else, also for days and seconds that aren't on the calendar.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      return value
    }
    let marks: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    guard marks.allSatisfy({ bytes[$0.0] == UInt8(ascii: $0.1) }),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count == 24 {
      guard bytes[19] == UInt8(ascii: "."), let digits = number(20..<23) else { return nil }
      fraction = digits
    }
    let date = CivilDate(year: year, month: month, day: day)
    let days = date.daysSince1970
    guard CivilDate(daysSince1970: days) == date else { return nil }
    self.init(milliseconds: ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction)
  }
}

/// A day of the Gregorian calendar.
package struct CivilDate: Equatable, Sendable {
  package var year: Int64
  package var month: Int64
  package var day: Int64

  package init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  // Counting from 1 March puts the leap day at the end of the year, so that months have a regular length:
  // 153 days in every five of them.
  package init(daysSince1970 days: Int64) {
    let (era, dayOfEra) = (days &+ 719_468).quotientAndRemainderFloored(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  package var daysSince1970: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shiftedYear.quotientAndRemainderFloored(by: 400)
    let shifted = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shifted + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension Int64 {
  fileprivate func quotientAndRemainderFloored(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
