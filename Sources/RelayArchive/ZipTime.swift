// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// The time that all entries of a ZIP carry: in seconds since 1970, and as the four bytes that MS-DOS had for it.
///
/// The four bytes know no zone. libarchive fills them with the local time of whoever writes, so that the same files would
/// come out differently elsewhere, or after the machine's zone was changed; ours are always UTC.
struct ZipTime: Equatable {
  /// 1980-01-01, before which MS-DOS can't write, to the last even second that 32 bits hold (2106-02-07).
  static let writable: ClosedRange<Int64> = 315_532_800...4_294_967_294

  /// Since 1970.
  let seconds: Int64

  /// The nearest time that can be written.
  init(_ time: WallTime) {
    seconds = min(max(time.milliseconds / 1000, Self.writable.lowerBound), Self.writable.upperBound)
  }

  /// Time, then date, each in 16 bits, the low byte first; in steps of two seconds.
  var bytes: [UInt8] {
    let (days, second) = seconds.quotientAndRemainder(dividingBy: 86400)
    let date = CivilDate(daysSince1970: days)
    let time: Int64 = (second / 3600) << 11 | (second / 60 % 60) << 5 | (second % 60) / 2
    let day: Int64 = (date.year - 1980) << 9 | date.month << 5 | date.day
    return [time, time >> 8, day, day >> 8].map { UInt8(truncatingIfNeeded: $0) }
  }
}
