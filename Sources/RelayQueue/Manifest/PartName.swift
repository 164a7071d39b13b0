// SPDX-License-Identifier: Apache-2.0

/// The two names of a part: one for receivers and people, one for the disk.
package enum PartName {
  /// In bytes; longer true names are cut, their extension kept.
  static let longestDisplay = 1024
  static let longestOnDisk = 100

  /// The true name as it may be shown and sent: invalid UTF-8 becomes U+FFFD; control characters, slashes and marks that
  /// turn the direction of writing become `_`.
  package static func display(_ bytes: [UInt8]) -> String {
    var name = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      name.append(isForbidden(scalar) ? "_" : scalar)
    }
    let text = String(name)
    if text.isEmpty || text.allSatisfy({ $0 == "." }) { return "unnamed" }
    return shortened(text, to: longestDisplay)
  }

  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x2F, 0x5C, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The name on disk: six digits of the index, a hyphen, and what the true name has of safe ASCII.
  package static func onDisk(index: Int, display: String) -> String {
    var safe: [UInt8] = []
    for scalar in display.unicodeScalars {
      let byte = UInt8(exactly: scalar.value).flatMap { isSafe($0) ? $0 : nil } ?? UInt8(ascii: "_")
      if byte == UInt8(ascii: "_") && safe.last == byte { continue }
      safe.append(byte)
    }
    let digits = String(index)
    let prefix = String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "-"
    return prefix + shortened(String(decoding: safe, as: UTF8.self), to: longestOnDisk - prefix.utf8.count)
  }

  private static func isSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Whether this is a name that `onDisk` could have made: nothing else is opened because a manifest says so.
  package static func isSafe(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count <= longestOnDisk && bytes.allSatisfy(isSafe) && index(of: name) != nil
  }

  /// The part's index in a name on disk.
  static func index(of name: String) -> Int? {
    let bytes = Array(name.utf8.prefix(7))
    guard bytes.count == 7, bytes[6] == UInt8(ascii: "-") else { return nil }
    var value = 0
    for byte in bytes.prefix(6) {
      guard (48...57).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 48)
    }
    return value
  }

  /// Cut to so many bytes between characters; a short extension stays.
  static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    let dot = name.lastIndex(of: ".")
    let tail = dot.map { String(name[$0...]) } ?? ""
    let ending = tail.utf8.count <= 16 ? tail : ""
    let base = name.dropLast(ending.count)
    var kept = String(base)
    while kept.utf8.count + ending.utf8.count > limit && !kept.isEmpty {
      // Far too long names are cut in big steps first.
      let surplus = kept.utf8.count + ending.utf8.count - limit
      kept = String(kept.dropLast(max(1, surplus / 64)))
    }
    // What people see as one character can be of any length.
    return (kept.isEmpty ? prefix(of: base, to: limit - ending.utf8.count) : kept) + ending
  }

  /// As many code points as fit.
  private static func prefix(of text: Substring, to limit: Int) -> String {
    var kept = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
      count += UTF8.width(scalar)
      if count > limit { break }
      kept.append(scalar)
    }
    return String(kept)
  }
}
