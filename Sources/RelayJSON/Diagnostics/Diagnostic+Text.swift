// SPDX-License-Identifier: Apache-2.0

extension Diagnostic {
  /// One line for people: `pipelines.json:12:7: error: what (what to do) [area.kind]`.
  package var headline: String {
    var text = ""
    if let file { text += file + ":" }
    if let place { text += "\(place.line):\(place.column):" }
    if !text.isEmpty { text += " " }
    text += "\(severity.rawValue): \(message)"
    if let hint { text += " (\(hint))" }
    return text + " [\(code.rawValue)]"
  }

  /// The headline, and below it the source line with a caret under the place.
  package var text: String {
    guard let place, !place.sourceLine.isEmpty else { return headline + "\n" }
    let (line, caret) = DisplayWidth.excerpt(of: place.sourceLine, column: place.column)
    return "\(headline)\n  \(line)\n  \(caret)\n"
  }

  /// `{file, line, column, severity, code, message, hint}`; what isn't known is null.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("file")
    if let file { writer.value(file) } else { writer.null() }
    writer.name("line")
    if let place { writer.value(place.line) } else { writer.null() }
    writer.name("column")
    if let place { writer.value(place.column) } else { writer.null() }
    writer.name("severity")
    writer.value(severity.rawValue)
    writer.name("code")
    writer.value(code.rawValue)
    writer.name("message")
    writer.value(message)
    writer.name("hint")
    if let hint { writer.value(hint) } else { writer.null() }
    writer.endObject()
  }
}
