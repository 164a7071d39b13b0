// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// What an object of a file may hold. One table serves reading, suggestions, the JSON Schema and the documentation.
struct ObjectDeclaration: Sendable {
  /// How messages call it: `delivery`, `a pipeline`.
  var name: String
  var summary: String
  var keys: [KeyDeclaration]

  subscript(_ key: String) -> KeyDeclaration? { keys.first { $0.name == key } }
}

struct KeyDeclaration: Sendable {
  var name: String
  var type: ValueType
  var isRequired = false
  /// What counts when the key is absent.
  var defaultValue: JSONValue?
  /// The default in words, where it isn't one value.
  var defaultText: String?
  var summary: String

  init(
    _ name: String, _ type: ValueType, required: Bool = false, default defaultValue: JSONValue? = nil,
    defaultText: String? = nil, _ summary: String
  ) {
    self.name = name
    self.type = type
    self.isRequired = required
    self.defaultValue = defaultValue
    self.defaultText = defaultText
    self.summary = summary
  }
}

indirect enum ValueType: Sendable {
  case text
  case flag
  case integer(ClosedRange<Int64>)
  /// Milliseconds.
  case duration(ClosedRange<Int64>)
  /// Bytes.
  case size(ClosedRange<Int64>)
  case id
  case targetID
  case version
  case path
  case date
  case time
  case zone
  case domain
  case listenAddress
  case url
  case secret
  case word([String])
  case list(ValueType, atLeast: Int)
  case object(ObjectDeclaration)
  /// One of several, told apart by the kind of JSON value and, among objects, by their required keys.
  case either([ValueType])
  /// Anything here: checked by other means.
  case any
}

extension ValueType {
  enum Kind { case text, flag, number, list, object, any }

  var kinds: [Kind] {
    switch self {
    case .flag: [.flag]
    case .integer: [.number]
    case .list: [.list]
    case .object, .secret: [.object]
    case .any: [.any]
    case .either(let types): types.flatMap(\.kinds)
    default: [.text]
    }
  }

  /// What is taken, after "must be".
  var expectation: String {
    switch self {
    case .text: "text"
    case .flag: "true or false"
    case .integer: "a whole number"
    case .duration: "a duration such as \"30s\""
    case .size: "a size such as \"10MB\""
    case .id: "an id of a to z, 0 to 9 and -"
    case .targetID: "a target's id such as \"http\""
    case .version: "a version such as \"1.2.3\""
    case .path: "a path"
    case .date: "a date such as \"2026-01-31\""
    case .time: "a time of day such as \"06:30\""
    case .zone: "a time zone such as \"Europe/Berlin\""
    case .domain: "a domain such as \"example.org\""
    case .listenAddress: "an address such as \"127.0.0.1:8480\" or \"unix:PATH\""
    case .url: "a URL that starts with https:// or http://"
    case .secret: "{\"secret\": \"name\"}"
    case .word(let words): Self.alternatives(words.map { "\"\($0)\"" })
    case .list(let type, _): "a list, each entry \(type.expectation)"
    case .object(let declaration):
      "an object with "
        + Self.alternatives(declaration.keys.filter(\.isRequired).map { "\"\($0.name)\"" }, joinedBy: "and")
    case .either(let types): Self.alternatives(types.map(\.expectation))
    case .any: "a value"
    }
  }

  private static func alternatives(_ parts: [String], joinedBy word: String = "or") -> String {
    guard let last = parts.last else { return "its keys" }
    let first = parts.dropLast()
    return first.isEmpty ? last : "\(first.joined(separator: ", ")) \(word) \(last)"
  }
}
