// SPDX-License-Identifier: Apache-2.0

/// The part of JSON Schema (2020-12) in which a target describes its settings, with the marks that only Relay Host
/// knows.
package struct JSONSchema: Equatable, Sendable {
  package enum ValueType: String, CaseIterable, Sendable {
    case object
    case array
    case string
    case integer
    case number
    case boolean
    case null
  }

  /// What the schema says of the entries of a list, or of the members that `properties` doesn't name.
  package indirect enum Entries: Equatable, Sendable {
    case any
    case none
    case schema(JSONSchema)
  }

  package struct Property: Equatable, Sendable {
    package var name: String
    package var schema: JSONSchema
  }

  package enum SecretMark: String, CaseIterable, Sendable {
    /// Only `{"secret": "name"}`.
    case required
    /// That, or plain text.
    case allowed
  }

  package enum AccessMark: String, CaseIterable, Sendable {
    /// A file or folder that is read.
    case read
    /// A folder in which files are made, changed and removed, or a file that is there and is changed in place.
    case write
    /// A file that is made or replaced, for which the folder around it is opened.
    case replace
  }

  /// Empty: any type.
  package var types: [ValueType] = []
  package var title: String?
  package var description: String?
  /// In the order of the text.
  package var properties: [Property] = []
  package var required: [String] = []
  package var additionalProperties = Entries.any
  package var items = Entries.any
  package var allowedValues: [JSONNode]?
  package var constant: JSONNode?
  package var defaultValue: JSONNode?
  package var examples: [JSONNode] = []
  package var minimum: JSONNumber?
  package var maximum: JSONNumber?
  /// In Unicode scalars.
  package var minLength: Int?
  package var maxLength: Int?
  package var secret: SecretMark?
  package var isTemplate = false
  /// Double braces in the text are meant for the receiver: the schema says so in so many words.
  package var passesBraces = false
  package var access: AccessMark?
  /// The text is an address with one of these before `://`, and a host behind it.
  package var urlSchemes: [String]?
  /// The text is the address that mail comes from, with or without a name.
  package var isSender = false
  /// The schema as it was read.
  package var source = JSONNode(.object([]))

  package init() {}

  /// The schema of a member; nil if the object may not hold one of that name.
  package func schema(ofMember name: String) -> JSONSchema? {
    if let property = properties.first(where: { $0.name == name }) { return property.schema }
    return additionalProperties.schema
  }
}

extension JSONSchema.Entries {
  /// An empty schema for `any`; nil for `none`.
  package var schema: JSONSchema? {
    switch self {
    case .any: JSONSchema()
    case .none: nil
    case .schema(let schema): schema
    }
  }
}
