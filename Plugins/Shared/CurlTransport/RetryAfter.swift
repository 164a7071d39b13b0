// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The two forms of Retry-After (RFC 9110, section 10.2.3).
package enum RetryAfter {
  private static let longest: Int64 = 86_400

  /// How long to wait, within a day; nil for what is neither seconds nor a date.
  ///
  /// A date that has passed means now.
  package static func parse(_ value: String?, now: Int64) -> Duration? {
    guard let value, !value.isEmpty else { return nil }
    if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      // More digits than fit are more than a day.
      return .seconds(min(Int64(value) ?? longest, longest))
    }
    guard value.utf8.contains(UInt8(ascii: ":")) else { return nil }
    let date = Int64(curl_getdate(value, nil))
    guard date >= 0 else { return nil }
    return .seconds(min(max(date - now, 0), longest))
  }
}
