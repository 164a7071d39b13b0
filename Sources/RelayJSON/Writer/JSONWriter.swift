// SPDX-License-Identifier: Apache-2.0

/// Writes JSON, the same bytes for the same calls.
///
/// Nesting is the caller's: each `begin` has its `end`, each value in an object its name.
package struct JSONWriter: Sendable {
  package enum Style: Sendable {
    /// No blanks at all.
    case compact
    /// Two blanks a level, one entry a line, a line break at the end.
    case pretty
  }

  package let style: Style
  private var buffer: [UInt8] = []
  /// For each open list or object, whether it holds something yet.
  private var open: [Bool] = []
  private var followsName = false

  package init(style: Style = .compact) { self.style = style }

  /// All that was written and not taken yet.
  package var bytes: [UInt8] { buffer }

  /// Hands over what was written so far, so that a long text needn't be held whole.
  package mutating func take() -> [UInt8] {
    defer { buffer.removeAll(keepingCapacity: true) }
    return buffer
  }

  package mutating func beginObject() { begin(UInt8(ascii: "{")) }

  package mutating func endObject() { end(UInt8(ascii: "}")) }

  package mutating func beginArray() { begin(UInt8(ascii: "[")) }

  package mutating func endArray() { end(UInt8(ascii: "]")) }

  package mutating func name(_ name: String) {
    separate()
    quote(name)
    buffer.append(UInt8(ascii: ":"))
    if style == .pretty { buffer.append(UInt8(ascii: " ")) }
    followsName = true
  }

  package mutating func value(_ text: String) {
    separate()
    quote(text)
    finish()
  }

  package mutating func value(_ integer: Int64) { literal(String(integer)) }

  package mutating func value(_ integer: UInt64) { literal(String(integer)) }

  package mutating func value(_ integer: Int) { literal(String(integer)) }

  /// The shortest text that reads back as the same double; null for what JSON can't say (infinite, not a number).
  package mutating func value(_ double: Double) { literal(double.isFinite ? String(double) : "null") }

  package mutating func value(_ flag: Bool) { literal(flag ? "true" : "false") }

  package mutating func null() { literal("null") }

  /// A value that was read, its numbers exactly as they were.
  package mutating func raw(_ node: JSONNode) {
    switch node.value {
    case .null: null()
    case .bool(let flag): value(flag)
    case .number(let number): literal(number.text)
    case .string(let text): value(text)
    case .array(let elements):
      beginArray()
      for element in elements { raw(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        name(member.name)
        raw(member.node)
      }
      endObject()
    }
  }

  private mutating func literal(_ text: String) {
    separate()
    buffer.append(contentsOf: text.utf8)
    finish()
  }

  private mutating func begin(_ bracket: UInt8) {
    separate()
    buffer.append(bracket)
    open.append(false)
  }

  private mutating func end(_ bracket: UInt8) {
    let holdsSomething = open.popLast() ?? false
    if holdsSomething { newLine() }
    buffer.append(bracket)
    finish()
  }

  /// What stands between the last thing and the next.
  private mutating func separate() {
    guard !followsName else {
      followsName = false
      return
    }
    guard let last = open.last else { return }
    if last { buffer.append(UInt8(ascii: ",")) }
    open[open.count - 1] = true
    newLine()
  }

  private mutating func newLine() {
    guard style == .pretty else { return }
    buffer.append(UInt8(ascii: "\n"))
    buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * open.count))
  }

  private mutating func finish() {
    if open.isEmpty, style == .pretty { buffer.append(UInt8(ascii: "\n")) }
  }

  private mutating func quote(_ text: String) {
    buffer.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        buffer.append(UInt8(ascii: "\\"))
        buffer.append(byte)
      case 0x0A: buffer.append(contentsOf: "\\n".utf8)
      case 0x0D: buffer.append(contentsOf: "\\r".utf8)
      case 0x09: buffer.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F:
        buffer.append(contentsOf: byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8)
        buffer.append(contentsOf: String(byte, radix: 16).utf8)
      default: buffer.append(byte)
      }
    }
    buffer.append(UInt8(ascii: "\""))
  }
}

extension JSONNode {
  /// The value as JSON text.
  package func bytes(_ style: JSONWriter.Style = .compact) -> [UInt8] {
    var writer = JSONWriter(style: style)
    writer.raw(self)
    return writer.take()
  }

  package func text(_ style: JSONWriter.Style = .compact) -> String {
    String(decoding: bytes(style), as: UTF8.self)
  }
}
