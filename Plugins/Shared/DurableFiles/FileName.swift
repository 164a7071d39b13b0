// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// A name for a file in a folder, at most 255 bytes.
package struct FileName: Equatable {
  package static let most = 255
  /// A longer ending after the last dot is no extension.
  private static let longestExtension = 32

  package let stem: String
  /// With its dot; empty for none.
  package let suffix: String

  /// Takes a wanted name; nil for what is no plain name.
  ///
  /// Control characters and a leading dot become "_".
  package init?(_ wanted: String) {
    guard !wanted.isEmpty, wanted != ".", wanted != "..", !wanted.utf8.contains(UInt8(ascii: "/")) else { return nil }
    var clean = String.UnicodeScalarView()
    for scalar in wanted.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
      clean.append(isControl || (clean.isEmpty && scalar == ".") ? "_" : scalar)
    }
    let name = String(clean)
    if let dot = name.lastIndex(of: "."), dot > name.startIndex, name[dot...].utf8.count <= Self.longestExtension {
      (stem, suffix) = (String(name[..<dot]), String(name[dot...]))
    } else {
      (stem, suffix) = (name, "")
    }
  }

  /// The name itself for 1, "stem (2).csv" for 2, and so on.
  package func numbered(_ number: Int) -> String {
    let mark = number > 1 ? " (\(number))" : ""
    return Self.cut(stem, to: Self.most - mark.utf8.count - suffix.utf8.count) + mark + suffix
  }

  /// Where the bytes gather before they get their name; says whose they are.
  package func partial(_ deliveryID: String) -> String {
    let id = Self.cut(String(deliveryID.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }), to: 64)
    return ".\(Self.cut(stem + suffix, to: Self.most - id.utf8.count - 7)).\(id).part"
  }

  /// The longest beginning of whole characters within that many bytes.
  private static func cut(_ text: String, to bytes: Int) -> String {
    guard text.utf8.count > bytes else { return text }
    var length = 0
    return String(
      text.prefix { character in
        length += character.utf8.count
        return length <= bytes
      })
  }
}
