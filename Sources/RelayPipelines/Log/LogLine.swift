// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayJSON
import RelaySystem

/// The forms a log entry is written in.
package enum LogLine {
  /// logfmt: a value with spaces, quotes or nothing in it stands in quotes.
  package static func text(_ entry: LogEntry, time: String?) -> String {
    var line = time.map { "time=\($0) " } ?? ""
    line += "level=\(entry.level.name) msg=\(quoted(entry.message))"
    for field in entry.fields { line += " \(field.name)=\(quoted(field.value))" }
    return line
  }

  package static func json(_ entry: LogEntry, time: String) -> String {
    var writer = JSONWriter(style: .compact)
    writer.beginObject()
    writer.name("time")
    writer.value(time)
    writer.name("level")
    writer.value(entry.level.name)
    writer.name("msg")
    writer.value(PrintableText.cleaned(entry.message))
    for field in entry.fields {
      writer.name(field.name)
      writer.value(PrintableText.cleaned(field.value))
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func quoted(_ raw: String) -> String {
    let text = PrintableText.cleaned(raw)
    let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }
    if isPlain { return text }
    var result = "\""
    for character in text.unicodeScalars {
      if character == "\"" || character == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(character)
    }
    return result + "\""
  }
}
