// SPDX-License-Identifier: Apache-2.0

/// Where a value departs from its schema, or a schema from what is taken of JSON Schema.
package struct SchemaProblem: Error, Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case wrongType(expected: [String], found: String)
    case unknownMember(name: String, known: [String])
    case missingMember(name: String)
    /// Each allowed value as JSON text.
    case notAllowed(values: [String])
    case tooSmall(minimum: String)
    case tooLarge(maximum: String)
    case tooShort(minimum: Int)
    case tooLong(maximum: Int)
    case notEmpty
    // Of a schema itself.
    case notASchema
    case unsupportedKeyword(String)
    case badKeyword(String, expected: String)
    case badDefault
    case undeclaredRequired(String)
  }

  package var kind: Kind
  /// JSON Pointer without its first slash: `tls/ca`, `to/0`; empty for the whole.
  package var pointer: String
  package var range: Range<Int>

  package init(_ kind: Kind, pointer: String, range: Range<Int>) {
    self.kind = kind
    self.pointer = pointer
    self.range = range
  }
}

extension SchemaProblem {
  package var message: String {
    let place = pointer.isEmpty ? "" : "\"\(pointer)\" "
    return switch kind {
    case .wrongType(let expected, let found):
      "\(place)must be \(expected.map(Self.withArticle).joined(separator: " or ")), not \(Self.withArticle(found))"
    case .unknownMember(let name, _): "unknown key \"\(name)\"" + (pointer.isEmpty ? "" : " in \"\(pointer)\"")
    case .missingMember(let name): "key \"\(name)\" is missing" + (pointer.isEmpty ? "" : " in \"\(pointer)\"")
    case .notAllowed(let values): "\(place)must be \(values.joined(separator: " or "))"
    case .tooSmall(let minimum): "\(place)must be at least \(minimum)"
    case .tooLarge(let maximum): "\(place)must be at most \(maximum)"
    case .tooShort(let minimum): "\(place)must have at least \(minimum) \(minimum == 1 ? "character" : "characters")"
    case .tooLong(let maximum): "\(place)must have at most \(maximum) \(maximum == 1 ? "character" : "characters")"
    case .notEmpty: "\(place)must be empty"
    case .notASchema: "\(place)must be an object, true or false"
    case .unsupportedKeyword(let name): "keyword \"\(name)\" is not among those that are taken"
    case .badKeyword(let name, let expected): "keyword \"\(name)\" must be \(expected)"
    case .badDefault: "the default is not what the schema itself allows"
    case .undeclaredRequired(let name): "\"\(name)\" is required and not among the properties"
    }
  }

  private static func withArticle(_ type: String) -> String {
    switch type {
    case "object", "array", "integer": "an \(type)"
    case "null": type
    default: "a \(type)"
    }
  }
}

/// The tokens of JSON Pointers (RFC 6901) without their first slash.
package enum JSONPointer {
  package static func appending(_ token: String, to pointer: String) -> String {
    var escaped = ""
    for character in token.unicodeScalars {
      switch character {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return pointer.isEmpty ? escaped : "\(pointer)/\(escaped)"
  }
}
