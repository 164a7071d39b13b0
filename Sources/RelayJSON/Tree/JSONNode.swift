// SPDX-License-Identifier: Apache-2.0

/// A value and the bytes it was read from.
package struct JSONNode: Sendable {
  package var value: JSONValue
  /// Byte offsets in the text; empty for a node that was made in memory.
  package var range: Range<Int>

  package init(_ value: JSONValue, range: Range<Int> = 0..<0) {
    self.value = value
    self.range = range
  }
}

package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONNode])
  case object([JSONMember])
}

/// One entry of an object, in the order of the text.
///
/// A name that comes twice is kept twice.
package struct JSONMember: Sendable {
  package var name: String
  /// Includes the quotes.
  package var nameRange: Range<Int>
  package var node: JSONNode

  package init(name: String, nameRange: Range<Int> = 0..<0, node: JSONNode) {
    self.name = name
    self.nameRange = nameRange
    self.node = node
  }
}

extension JSONNode {
  /// The member of that name, the first if it is there twice; nil for anything but an object.
  package subscript(_ name: String) -> JSONNode? {
    object?.first { $0.name == name }?.node
  }

  package subscript(_ index: Int) -> JSONNode? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  package var string: String? {
    if case .string(let text) = value { text } else { nil }
  }

  package var number: JSONNumber? {
    if case .number(let number) = value { number } else { nil }
  }

  package var integer: Int64? { number?.integer }

  package var double: Double? { number?.double }

  package var bool: Bool? {
    if case .bool(let flag) = value { flag } else { nil }
  }

  package var array: [JSONNode]? {
    if case .array(let elements) = value { elements } else { nil }
  }

  package var object: [JSONMember]? {
    if case .object(let members) = value { members } else { nil }
  }

  package var isNull: Bool {
    if case .null = value { true } else { false }
  }

  /// The name of the value's type in JSON Schema.
  package var typeName: String {
    switch value {
    case .null: "null"
    case .bool: "boolean"
    case .number(let number): number.integer == nil ? "number" : "integer"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSONNode: Equatable {
  /// Compares what is said, not where: ranges don't count.
  package static func == (left: JSONNode, right: JSONNode) -> Bool { left.value == right.value }
}

extension JSONValue: Equatable {
  /// Members of an object count in any order, as in JSON Schema.
  package static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)):
      left.map(\.name) == right.map(\.name)
        ? left == right
        : left.count == right.count && left.sorted { $0.name < $1.name } == right.sorted { $0.name < $1.name }
    default: false
    }
  }
}

extension JSONMember: Equatable {
  package static func == (left: JSONMember, right: JSONMember) -> Bool {
    left.name == right.name && left.node == right.node
  }
}
