// SPDX-License-Identifier: Apache-2.0
import RelayTemplates

/// Any text is a template or an error with a place in it; what is rendered into a URL stays in its place.
///
/// The input: the moment in eight bytes and a zone in two, and then, parted by zero bytes, a file's name and the template.
func templateHolds(_ bytes: [UInt8]) throws {
  var input = FuzzInput(bytes)
  let moment = input.padded(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
  let zone = Int64(Int16(truncatingIfNeeded: input.short())) * 4
  let rest = input.all().split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  let name = String(decoding: rest.first ?? [], as: UTF8.self)
  let text = String(decoding: rest.dropFirst().first ?? [], as: UTF8.self)
  let template: Template
  do throws(TemplateError) {
    template = try TemplateEngine.parse(text)
  } catch {
    let lines = text.unicodeScalars.count { $0 == "\n" } + 1
    try hold((1...lines).contains(error.line) && error.column >= 1, "a fault lies in the text: \(error)")
    return
  }
  let context = TemplateContext(
    fileName: name, artifactID: "0189", partIndex: 1, partCount: 2, pipelineID: "scans", pipelineName: "Scans",
    now: moment, created: moment &+ 1, zoneOffset: zone)
  var rendered: (first: String, second: String)?
  do throws(TemplateError) {
    let plain = try template.render(context)
    let again = try template.render(context)
    rendered = (plain, again)
  } catch {
    try hold(error.line >= 1 && error.column >= 1, "a fault lies in the text: \(error)")
  }
  if let rendered {
    try hold(rendered.first == rendered.second, "rendering twice gives the same")
    try hold(text.contains("{{") || rendered.first == text, "a text without names renders as it is")
  }
  // Behind one literal slash, a value can't become a second step of a path, nor a query.
  guard let path = try? TemplateEngine.parse("https://a/{{ file.name }}") else { return }
  guard let url = try? path.render(context, escaping: .urlComponent) else { return }
  let value = url.dropFirst("https://a/".count)
  let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%".utf8)
  try hold(
    value.utf8.allSatisfy(allowed.contains), "a value stays one piece of a URL: \(value)")
  try hold(value != "." && value != "..", "a value is no step in a path")
}
