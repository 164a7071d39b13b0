// SPDX-License-Identifier: Apache-2.0

/// A format as strftime has them, with English names: `%Y-%m-%d`. `-` behind the percent sign leaves out leading zeros.
struct DateFormat: Equatable, Sendable {
  enum Piece: Equatable, Sendable {
    case text(String)
    case field(Character, isPadded: Bool)
  }

  struct UnknownCode: Error, Equatable { var code: String }

  private static let known: Set<Character> = [
    "Y", "m", "d", "H", "M", "S", "y", "j", "b", "B", "a", "A", "I", "p", "u", "w", "G", "V", "F", "T", "z", "s",
  ]

  let pieces: [Piece]

  static func parse(_ text: String) -> Result<DateFormat, UnknownCode> {
    var pieces: [Piece] = []
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      guard character == "%" else {
        literal.append(character)
        continue
      }
      var code = rest.popFirst()
      if code == "%" {
        literal.append("%")
        continue
      }
      let isPadded = code != "-"
      if !isPadded { code = rest.popFirst() }
      guard let code, known.contains(code) else {
        return .failure(UnknownCode(code: "%" + (isPadded ? "" : "-") + (code.map(String.init) ?? "")))
      }
      if !literal.isEmpty { pieces.append(.text(literal)) }
      literal = ""
      pieces.append(.field(code, isPadded: isPadded))
    }
    if !literal.isEmpty { pieces.append(.text(literal)) }
    return .success(DateFormat(pieces: pieces))
  }

  /// Nil outside of the years 1 to 9999.
  func text(of milliseconds: Int64, zoneOffset: Int64) -> String? {
    guard let moment = CivilMoment(milliseconds: milliseconds, zoneOffset: zoneOffset) else { return nil }
    return pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field(let code, let isPadded): moment.field(code, isPadded: isPadded)
      }
    }.joined()
  }
}
