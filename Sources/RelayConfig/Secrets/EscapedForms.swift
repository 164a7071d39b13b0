// SPDX-License-Identifier: Apache-2.0

/// What becomes of a secret that a receiver quotes in an answer in JSON or HTML.
enum EscapedForms {
  static func all(of secret: [UInt8]) -> [[UInt8]] {
    let text = String(decoding: secret, as: UTF8.self)
    guard text.utf8.elementsEqual(secret) else { return [] }
    var forms = [html(text, apostrophe: "&#39;"), html(text, apostrophe: "&#x27;"), html(text, apostrophe: "'")]
    for slash in ["/", "\\/"] {
      for isASCII in [true, false] {
        for digits in ["0123456789abcdef", "0123456789ABCDEF"] {
          forms.append(json(text, slash, isASCII, Array(digits)))
        }
      }
    }
    return forms.map { Array($0.utf8) }
  }

  /// - Parameter isASCII: whether all else is written as numbers, as some libraries do.
  private static func json(_ text: String, _ slash: String, _ isASCII: Bool, _ digits: [Character]) -> String {
    var written = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": written += "\\\""
      case "\\": written += "\\\\"
      case "/": written += slash
      case "\n": written += "\\n"
      case "\r": written += "\\r"
      case "\t": written += "\\t"
      default:
        guard scalar.value < 32 || (isASCII && scalar.value > 126) else {
          written.unicodeScalars.append(scalar)
          continue
        }
        for unit in String(scalar).utf16 {
          written += "\\u"
          for shift in [12, 8, 4, 0] { written.append(digits[Int(unit >> UInt16(shift)) & 15]) }
        }
      }
    }
    return written
  }

  private static func html(_ text: String, apostrophe: String) -> String {
    var written = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": written += "&amp;"
      case "<": written += "&lt;"
      case ">": written += "&gt;"
      case "\"": written += "&quot;"
      case "'": written += apostrophe
      default: written.unicodeScalars.append(character)
      }
    }
    return written
  }
}
