// SPDX-License-Identifier: Apache-2.0

/// What a receiver said, fit for a message: one line that can be shown on a terminal.
public enum PrintableLine {
  /// Control characters and runs of spaces become one space; cut at a character once it has `most` bytes.
  public static func of(_ text: String, most: Int) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      let isSpace = scalar.properties.isWhitespace || scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
      if !isSpace {
        line.unicodeScalars.append(scalar)
      } else if !line.isEmpty, line.unicodeScalars.last != " " {
        line += " "
      }
      if line.utf8.count >= most { break }
    }
    while line.unicodeScalars.last == " " { line.unicodeScalars.removeLast() }
    return line
  }

  /// As above, of bytes that may be no text.
  public static func of(_ bytes: [UInt8], most: Int) -> String {
    of(String(decoding: bytes, as: UTF8.self), most: most)
  }
}
