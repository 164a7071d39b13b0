// SPDX-License-Identifier: Apache-2.0

/// A template that was read without fault.
package struct Template: Equatable, Sendable {
  package enum Escaping: Sendable {
    case none
    /// A value becomes one path segment or query value: all but letters, digits and `-._~` is percent-encoded.
    case urlComponent
  }

  enum Piece: Equatable, Sendable {
    case text(String)
    case value(TemplateName, line: Int, column: Int)
    case date(TemplateName, DateFormat, line: Int, column: Int)
  }

  let pieces: [Piece]

  /// Whether it asks for anything at all.
  package var isConstant: Bool {
    pieces.allSatisfy { if case .text = $0 { true } else { false } }
  }

  /// Whether, as a URL, it leaves scheme, host and port to values: these must be written out.
  package var leavesAuthorityOpen: Bool {
    guard !isConstant else { return false }
    guard case .text(let text)? = pieces.first, let scheme = text.firstRange(of: "://") else { return true }
    return !text[scheme.upperBound...].contains { $0 == "/" || $0 == "?" || $0 == "#" }
  }

  package func render(_ context: TemplateContext, escaping: Escaping = .none) throws(TemplateError) -> String {
    var output = ""
    for piece in pieces {
      switch piece {
      case .text(let text): output += text
      case .value(let name, let line, let column):
        output += try escaped(name.text(in: context), escaping, line, column)
      case .date(let name, let format, let line, let column):
        guard let text = format.text(of: name.time(in: context), zoneOffset: context.zoneOffset) else {
          throw TemplateError(.dateOutOfRange, line: line, column: column)
        }
        output += try escaped(text, escaping, line, column)
      }
    }
    return output
  }

  private func escaped(
    _ text: String, _ escaping: Escaping, _ line: Int, _ column: Int
  ) throws(TemplateError) -> String {
    guard escaping == .urlComponent else { return text }
    // Clients take these for steps in the path, encoded or not.
    guard text != ".", text != ".." else { throw TemplateError(.notAURLPart(text), line: line, column: column) }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
