// SPDX-License-Identifier: Apache-2.0

/// The name of a file in the header of its part, in each of the ways that some mail program needs.
///
/// The full name is in `filename*` (RFC 5987 within RFC 2231), never cut into numbered pieces, which some programs can't put together
/// again: a name of 255 bytes still fits into one line. Those that don't know `filename*` get a short name in ASCII, and the oldest
/// an encoded word in Content-Type.
struct AttachmentName {
  /// Longest name, in bytes: what file systems allow.
  static let longest = 255
  /// Longest name of the short forms, in bytes, so that an encoded word holds it.
  private static let short = 45

  let name: String

  init(_ name: String) {
    self.name = Self.shortened(name.isEmpty ? "file" : name, to: Self.longest)
  }

  /// The parameters of Content-Disposition.
  var disposition: String {
    if isPlain { return "attachment;\r\n filename=\"\(name)\"" }
    return "attachment;\r\n filename*=UTF-8''\(percentEncoded);\r\n filename=\"\(fallback)\""
  }

  /// The parameter of Content-Type.
  var typeParameter: String {
    let short = Self.shortened(name, to: Self.short)
    let isASCII = isPlain && short.utf8.count == name.utf8.count
    return "name=\"\(isASCII ? name : HeaderText.encodedWord(short))\""
  }

  /// Whether it can stand between quotes as it is.
  private var isPlain: Bool {
    name.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      && !name.contains("=?")
  }

  private var percentEncoded: String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var encoded = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%"
        encoded.unicodeScalars.append(digits[Int(byte >> 4)])
        encoded.unicodeScalars.append(digits[Int(byte & 15)])
      }
    }
    return encoded
  }

  private var fallback: String {
    let characters = Self.shortened(name, to: Self.short).map { character -> Character in
      guard let value = character.asciiValue, (0x20...0x7e).contains(value), value != UInt8(ascii: "\""),
        value != UInt8(ascii: "\\")
      else { return "_" }
      return character
    }
    return String(characters)
  }

  /// A name of at most so many bytes that keeps its ending.
  static func shortened(_ name: String, to most: Int) -> String {
    guard name.utf8.count > most else { return name }
    var ending = ""
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 {
      ending = String(name[dot...])
    }
    var stem = ""
    var room = most - ending.utf8.count
    for character in name {
      room -= character.utf8.count
      if room < 0 { break }
      stem.append(character)
    }
    return stem + ending
  }
}
