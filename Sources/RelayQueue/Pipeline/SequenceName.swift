// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// The number that gives artifacts their order, and its form as a folder's name.
package enum SequenceName {
  /// Larger numbers are nothing that this program gave out.
  static let largest: UInt64 = 999_999_999_999_999_999
  /// Stands for "a folder with the largest number is there already": nothing on a disk says so by itself.
  static let noneLeft = EOVERFLOW
  static let stagingPrefix = ".in-"
  static let trashPrefix = ".trash-"

  /// At least ten digits.
  package static func name(_ sequence: UInt64) -> String {
    let digits = String(sequence)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  /// The number, if this is exactly the name that `name` gives it.
  package static func parse(_ name: some StringProtocol) -> UInt64? {
    guard let value = UInt64(name), value > 0, value <= largest, Self.name(value) == name else { return nil }
    return value
  }

  /// The number that a name contains in any form this program makes: as trash, or with `-2` behind it.
  static func mentioned(in name: String) -> UInt64? {
    let rest = name.hasPrefix(trashPrefix) ? name.dropFirst(trashPrefix.count) : name[...]
    return parse(rest.prefix { $0 != "-" })
  }

  /// A raw name as text; nil when it is not UTF-8, so not one of ours.
  static func text(_ raw: [CChar]) -> String? {
    String(validating: raw.dropLast().lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
