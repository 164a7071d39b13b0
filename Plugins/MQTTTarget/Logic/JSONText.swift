// SPDX-License-Identifier: Apache-2.0

/// A value that is written as JSON.
indirect enum JSONText {
  case text(String)
  case list([JSONText])
  /// Members without a value are left out.
  case object([(name: String, value: JSONText?)])

  var written: String {
    switch self {
    case .text(let text): Self.quoted(text)
    case .list(let values): "[\(values.map(\.written).joined(separator: ","))]"
    case .object(let members):
      "{"
        + members.compactMap { member in
          member.value.map { "\(Self.quoted(member.name)):\($0.written)" }
        }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..<" ", "\u{7f}"..."\u{9f}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
