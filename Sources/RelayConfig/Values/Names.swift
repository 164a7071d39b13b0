// SPDX-License-Identifier: Apache-2.0

/// The forms of names that people give.
package enum Names {
  /// A pipeline's or secret's: `[a-z0-9][a-z0-9-]{0,62}`.
  package static func isID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, bytes.count <= 63, first != UInt8(ascii: "-") else { return false }
    return bytes.allSatisfy { isLowerOrDigit($0) || $0 == UInt8(ascii: "-") }
  }

  /// A target's: an id, or several joined by dots (reverse DNS), of at most 127 characters.
  package static func isTargetID(_ text: String) -> Bool {
    text.utf8.count <= 127
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isID(String($0)) }
  }

  /// A name of the IANA database by its form: `Europe/Berlin`, `Etc/GMT+3`. It can't lead out of the database's folder.
  package static func isZone(_ text: String) -> Bool {
    text.utf8.count <= 64
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
        guard let first = part.utf8.first, isLowerOrDigit(first | 0x20) else { return false }
        return part.utf8.allSatisfy {
          isLowerOrDigit($0) || isLowerOrDigit($0 | 0x20)
            || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+")].contains($0)
        }
      }
  }

  /// A domain name in ASCII: labels of letters, digits and hyphens.
  package static func isDomain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 253
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isID($0.lowercased()) }
  }

  private static func isLowerOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
