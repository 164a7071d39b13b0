// SPDX-License-Identifier: Apache-2.0

/// An element of a WebDAV answer: names without their prefix, in lower case, text with entities resolved.
///
/// A reader for what servers answer, not for all of XML: no document types, no entities of their own. What is cut off or broken
/// gives as much as was understood.
struct XMLElement: Equatable {
  private static let deepest = 64

  var name: String
  var attributes: [String: String] = [:]
  var children: [XMLElement] = []
  /// All text directly within, blanks at its ends removed.
  var text = ""

  /// The element around everything; nil for what isn't XML.
  static func parse(_ bytes: [UInt8]) -> XMLElement? {
    guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") || bytes.starts(with: [0xef, 0xbb, 0xbf]) else {
      return nil
    }
    var open = [XMLElement(name: "")]
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      open[open.count - 1].text += decoded(rest[..<start])
      rest = rest[start...]
      if skip("<!--", to: "-->", in: &rest) || skip("<?", to: "?>", in: &rest) { continue }
      let content = rest.dropFirst(9)
      if skip("<![CDATA[", to: "]]>", in: &rest) {
        open[open.count - 1].text += String(decoding: content[..<(rest.startIndex - 3)], as: UTF8.self)
        continue
      }
      guard let end = tagEnd(rest) else { break }
      let tag = rest[(start + 1)..<end]
      rest = rest[(end + 1)...]
      if tag.first == UInt8(ascii: "/") {
        if open.count > 1 { close(&open) }
      } else if tag.first != UInt8(ascii: "!") {
        guard open.count < deepest else { break }
        open.append(element(tag))
        if tag.last == UInt8(ascii: "/") { close(&open) }
      }
    }
    while open.count > 1 { close(&open) }
    return open[0].children.first
  }

  /// This element and all within, outermost first.
  func all(_ name: String) -> [XMLElement] {
    (self.name == name ? [self] : []) + children.flatMap { $0.all(name) }
  }

  func first(_ name: String) -> XMLElement? {
    self.name == name ? self : children.lazy.compactMap { $0.first(name) }.first
  }

  private static func close(_ open: inout [XMLElement]) {
    guard var last = open.popLast() else { return }
    while last.text.last?.isWhitespace == true { last.text.removeLast() }
    while last.text.first?.isWhitespace == true { last.text.removeFirst() }
    open[open.count - 1].children.append(last)
  }

  private static func skip(_ opening: String, to closing: String, in rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: opening.utf8) else { return false }
    guard let end = rest.dropFirst(opening.utf8.count).firstRange(of: Array(closing.utf8)) else { return false }
    rest = rest[end.upperBound...]
    return true
  }

  /// The bracket that ends a tag; one within quotes doesn't.
  private static func tagEnd(_ tag: ArraySlice<UInt8>) -> Int? {
    var quote: UInt8?
    for (index, byte) in zip(tag.indices, tag) {
      if let inside = quote {
        if byte == inside { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index
      }
    }
    return nil
  }

  private static func element(_ tag: ArraySlice<UInt8>) -> XMLElement {
    let name = tag.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    var element = XMLElement(name: local(name))
    var rest = tag[name.endIndex...]
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let attribute = rest[..<equals].filter { $0 > 0x20 }
      guard let quote = rest[equals...].dropFirst().first(where: { $0 > 0x20 }),
        let opening = rest[equals...].firstIndex(of: quote),
        let closing = rest[(opening + 1)...].firstIndex(of: quote)
      else { break }
      element.attributes[local(attribute[...])] = decoded(rest[(opening + 1)..<closing])
      rest = rest[(closing + 1)...]
    }
    return element
  }

  private static func local(_ name: ArraySlice<UInt8>) -> String {
    let text = String(decoding: name, as: UTF8.self)
    return text.split(separator: ":").last.map { $0.lowercased() } ?? ""
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      rest = rest[start...]
      guard let end = rest.prefix(12).firstIndex(of: ";"),
        let character = character(rest[rest.index(after: start)..<end])
      else {
        result += "&"
        rest = rest.dropFirst()
        continue
      }
      result.unicodeScalars.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(_ entity: Substring) -> Unicode.Scalar? {
    switch entity {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      if entity.hasPrefix("#x") || entity.hasPrefix("#X") {
        return UInt32(entity.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
      }
      return entity.hasPrefix("#") ? UInt32(entity.dropFirst()).flatMap(Unicode.Scalar.init) : nil
    }
  }
}
