// SPDX-License-Identifier: Apache-2.0

/// Reads a JSON text token by token, strictly by RFC 8259, and tells for each the bytes it came from.
///
/// A collecting reader notes what it can read past (a comma too many or missing, a comment, single quotes, a bad
/// escape …)
/// in `problems` and goes on; a strict one throws at the first.
package struct JSONReader {
  /// What the text may go on with.
  private enum Expectation {
    case document
    case end
    case firstElement
    case element
    case firstName
    case name
    case value
    case commaOrClose
  }

  private enum Container {
    case object
    case array
  }

  let bytes: [UInt8]
  let limits: JSONLimits
  let collecting: Bool
  var offset = 0
  /// The bytes of the token that `next` returned last.
  package private(set) var range: Range<Int> = 0..<0
  package private(set) var problems: [JSONError] = []
  private var containers: [Container] = []
  private var expectation = Expectation.document
  private var lastComma = 0

  package init(_ bytes: [UInt8], limits: JSONLimits = .default, collecting: Bool = false) {
    self.bytes = bytes
    self.limits = limits
    self.collecting = collecting
  }

  /// How many lists and objects are open.
  package var depth: Int { containers.count }

  /// The next token; nil once after the whole text was found to be good.
  package mutating func next() throws(JSONError) -> JSONToken? {
    if expectation == .document && offset == 0 { try start() }
    while true {
      try skipBlanks()
      guard let byte = peek() else { return try atEnd() }
      switch expectation {
      case .document: return try value(byte)
      case .end:
        try report(.trailingContent, at: offset)
        offset = bytes.count
        return nil
      case .firstElement:
        if byte == UInt8(ascii: "]") { return close(.endArray) }
        return try value(byte)
      case .element, .name:
        let closing = expectation == .element ? UInt8(ascii: "]") : UInt8(ascii: "}")
        if byte == closing {
          try report(.trailingComma, at: lastComma)
          return close(expectation == .element ? .endArray : .endObject)
        }
        if byte == UInt8(ascii: ",") {
          try report(.unexpectedComma, at: offset)
          offset += 1
          continue
        }
        return expectation == .element ? try value(byte) : try name(byte)
      case .firstName:
        if byte == UInt8(ascii: "}") { return close(.endObject) }
        return try name(byte)
      case .value: return try value(byte)
      case .commaOrClose:
        if let token = try afterValue(byte) { return token }
      }
    }
  }

  /// Notes a problem that can be read past, or throws it.
  mutating func report(_ kind: JSONError.Kind, at offset: Int) throws(JSONError) {
    let error = JSONError(kind, at: offset)
    guard collecting, problems.count < limits.problems else { throw error }
    problems.append(error)
  }

  func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func start() throws(JSONError) {
    guard bytes.count <= limits.bytes else { throw JSONError(.tooLarge, at: 0) }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      try report(.byteOrderMark, at: 0)
      offset = 3
    }
  }

  private func atEnd() throws(JSONError) -> JSONToken? {
    switch expectation {
    case .end: return nil
    case .document: throw JSONError(.empty, at: offset)
    default: throw JSONError(.unexpectedEnd, at: offset)
    }
  }

  /// After a value inside of a list or object: nil when a comma was passed (or found missing).
  private mutating func afterValue(_ byte: UInt8) throws(JSONError) -> JSONToken? {
    let inObject = containers.last == .object
    switch byte {
    case UInt8(ascii: ","):
      lastComma = offset
      offset += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard inObject == (byte == UInt8(ascii: "}")) else { throw JSONError(.mismatchedBracket, at: offset) }
      return close(inObject ? .endObject : .endArray)
    default:
      guard Self.startsName(byte) || (!inObject && Self.startsUnnamedValue(byte)) else {
        throw JSONError(.unexpectedCharacter, at: offset)
      }
      // The comma belongs right behind what was read last.
      try report(.missingComma, at: range.upperBound)
    }
    expectation = inObject ? .name : .element
    return nil
  }

  private mutating func name(_ byte: UInt8) throws(JSONError) -> JSONToken {
    let start = offset
    let text: String
    if byte == UInt8(ascii: "\"") {
      text = try string(quote: byte)
    } else if byte == UInt8(ascii: "'") {
      try report(.singleQuotes, at: offset)
      text = try string(quote: byte)
    } else if Self.startsWord(byte) {
      try report(.unquotedName, at: offset)
      text = word()
    } else {
      throw JSONError(.missingName, at: offset)
    }
    range = start..<offset
    try skipBlanks()
    if peek() == UInt8(ascii: ":") {
      offset += 1
    } else if let byte = peek() {
      guard byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]"), byte != UInt8(ascii: ",") else {
        throw JSONError(.missingColon, at: range.upperBound)
      }
      try report(.missingColon, at: range.upperBound)
      if byte == UInt8(ascii: "=") { offset += 1 }
    } else {
      throw JSONError(.unexpectedEnd, at: offset)
    }
    expectation = .value
    return .name(text)
  }

  private mutating func value(_ byte: UInt8) throws(JSONError) -> JSONToken {
    let start = offset
    switch byte {
    case UInt8(ascii: "{"): return try open(.object)
    case UInt8(ascii: "["): return try open(.array)
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard expectation == .value else { throw JSONError(.unexpectedCharacter, at: offset) }
      try report(.missingValue, at: offset)
      return scalar(.null, from: start)
    case UInt8(ascii: "\""): return scalar(.string(try string(quote: byte)), from: start)
    case UInt8(ascii: "'"):
      try report(.singleQuotes, at: offset)
      return scalar(.string(try string(quote: byte)), from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
      let token = try number()
      return scalar(token, from: start)
    default:
      guard Self.startsWord(byte) else { throw JSONError(.unexpectedCharacter, at: offset) }
      return scalar(try literal(), from: start)
    }
  }

  private mutating func literal() throws(JSONError) -> JSONToken {
    let start = offset
    switch word() {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      try report(.badLiteral, at: start)
      return .null
    }
  }

  private mutating func scalar(_ token: JSONToken, from start: Int) -> JSONToken {
    range = start..<offset
    expectation = containers.isEmpty ? .end : .commaOrClose
    return token
  }

  private mutating func open(_ container: Container) throws(JSONError) -> JSONToken {
    guard containers.count < limits.depth else { throw JSONError(.tooDeep, at: offset) }
    containers.append(container)
    range = offset..<offset + 1
    offset += 1
    expectation = container == .object ? .firstName : .firstElement
    return container == .object ? .beginObject : .beginArray
  }

  private mutating func close(_ token: JSONToken) -> JSONToken {
    containers.removeLast()
    range = offset..<offset + 1
    offset += 1
    expectation = containers.isEmpty ? .end : .commaOrClose
    return token
  }
}
