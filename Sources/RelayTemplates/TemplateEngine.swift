// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Reads templates. What isn't known is an error with its place, never passed over.
package enum TemplateEngine {
  package static func parse(_ text: String) throws(TemplateError) -> Template {
    var parser = TemplateParser(Array(text.unicodeScalars))
    return try parser.template()
  }
}

private struct TemplateParser {
  let scalars: [Unicode.Scalar]
  var offset = 0
  var line = 1
  var column = 1

  init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

  mutating func template() throws(TemplateError) -> Template {
    var pieces: [Template.Piece] = []
    var text = ""
    while let scalar = peek() {
      switch (scalar, peek(1)) {
      case ("{", "{"):
        if !text.isEmpty { pieces.append(.text(text)) }
        text = ""
        switch try expression() {
        case .text(let literal): text = literal
        case let piece: pieces.append(piece)
        }
      case ("{", "%"), ("{", "#"): throw error(.statement)
      default:
        text.unicodeScalars.append(scalar)
        advance()
      }
    }
    if !text.isEmpty { pieces.append(.text(text)) }
    return Template(pieces: pieces)
  }

  private mutating func expression() throws(TemplateError) -> Template.Piece {
    let opening = error(.unclosedExpression)
    advance(2)
    skipBlanks()
    let place = error(.emptyExpression)
    if peek() == "}" { throw place }
    if peek() == "'" || peek() == "\"" {
      let literal = try string(opening)
      try close(opening)
      return .text(literal)
    }
    let written = word()
    guard !written.isEmpty else { throw try unexpected(opening) }
    guard let name = TemplateName(rawValue: written) else {
      let known = TemplateName.allCases.map(\.rawValue)
      let suggestion = Suggestion.nearest(to: written, among: known)
      throw TemplateError(.unknownName(written, suggestion: suggestion), line: place.line, column: place.column)
    }
    skipBlanks()
    guard peek() == "|" else {
      try close(opening)
      guard !name.isTime else { throw TemplateError(.needsDate(written), line: place.line, column: place.column) }
      return .value(name, line: place.line, column: place.column)
    }
    advance()
    let format = try dateFilter(opening)
    try close(opening)
    guard name.isTime else { throw TemplateError(.noDate(written), line: place.line, column: place.column) }
    return .date(name, format, line: place.line, column: place.column)
  }

  /// `date('%Y')` behind the bar.
  private mutating func dateFilter(_ opening: TemplateError) throws(TemplateError) -> DateFormat {
    skipBlanks()
    let place = error(.unclosedExpression)
    let filter = word()
    guard filter == "date" else {
      guard !filter.isEmpty else { throw try unexpected(opening) }
      throw TemplateError(.unknownFilter(filter), line: place.line, column: place.column)
    }
    skipBlanks()
    guard peek() == "(" else { throw try unexpected(opening) }
    advance()
    skipBlanks()
    let formatPlace = error(.unclosedExpression)
    guard peek() == "'" || peek() == "\"" else { throw try unexpected(opening) }
    let text = try string(opening)
    skipBlanks()
    guard peek() == ")" else { throw try unexpected(opening) }
    advance()
    switch DateFormat.parse(text) {
    case .success(let format): return format
    case .failure(let unknown):
      throw TemplateError(.badFormat(unknown.code), line: formatPlace.line, column: formatPlace.column)
    }
  }

  /// A quoted text without escapes: a format needs none.
  private mutating func string(_ opening: TemplateError) throws(TemplateError) -> String {
    let quote = peek()
    advance()
    var text = ""
    while let scalar = peek(), scalar != quote {
      if scalar == "\\" { throw error(.unexpected("\\")) }
      text.unicodeScalars.append(scalar)
      advance()
    }
    guard peek() != nil else { throw opening }
    advance()
    return text
  }

  private mutating func close(_ opening: TemplateError) throws(TemplateError) {
    skipBlanks()
    guard peek() == "}", peek(1) == "}" else { throw try unexpected(opening) }
    advance(2)
  }

  private func unexpected(_ opening: TemplateError) throws(TemplateError) -> TemplateError {
    guard let scalar = peek() else { throw opening }
    return error(.unexpected(String(Character(scalar))))
  }

  private mutating func word() -> String {
    var text = ""
    while let scalar = peek(),
      scalar == "_" || scalar == "." || (scalar.isASCII && scalar.properties.isAlphabetic)
        || (!text.isEmpty && ("0"..."9").contains(scalar))
    {
      text.unicodeScalars.append(scalar)
      advance()
    }
    return text
  }

  private mutating func skipBlanks() {
    while let scalar = peek(), scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" { advance() }
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    offset + ahead < scalars.count ? scalars[offset + ahead] : nil
  }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count {
      guard let scalar = peek() else { return }
      offset += 1
      if scalar == "\n" { (line, column) = (line + 1, 1) } else { column += 1 }
    }
  }

  private func error(_ kind: TemplateError.Kind) -> TemplateError { TemplateError(kind, line: line, column: column) }
}
