// SPDX-License-Identifier: Apache-2.0

extension JSONSchema {
  /// Reads a schema; with problems it is what could be understood of it.
  package static func parse(_ node: JSONNode, pointer: String = "") -> (schema: JSONSchema, problems: [SchemaProblem]) {
    var parser = SchemaParser()
    let schema = parser.schema(node, pointer)
    return (schema, parser.problems)
  }
}

private struct SchemaParser {
  var problems: [SchemaProblem] = []

  mutating func schema(_ node: JSONNode, _ pointer: String) -> JSONSchema {
    var schema = JSONSchema()
    schema.source = node
    guard let members = node.object else {
      problems.append(SchemaProblem(.notASchema, pointer: pointer, range: node.range))
      return schema
    }
    for member in members {
      keyword(member, JSONPointer.appending(member.name, to: pointer), &schema)
    }
    for name in schema.required where schema.schema(ofMember: name) == nil {
      problems.append(SchemaProblem(.undeclaredRequired(name), pointer: pointer, range: node.range))
    }
    if let defaultValue = schema.defaultValue, !schema.validate(defaultValue).isEmpty {
      problems.append(SchemaProblem(.badDefault, pointer: pointer, range: defaultValue.range))
    }
    return schema
  }

  private mutating func keyword(_ member: JSONMember, _ pointer: String, _ schema: inout JSONSchema) {
    let node = member.node
    switch member.name {
    case "type": types(node, pointer, &schema)
    case "title": schema.title = check(node.string, member, pointer, "text")
    case "description": schema.description = check(node.string, member, pointer, "text")
    case "properties":
      for property in check(node.object, member, pointer, "an object") ?? [] {
        let below = JSONPointer.appending(property.name, to: pointer)
        schema.properties.append(.init(name: property.name, schema: self.schema(property.node, below)))
      }
    case "required": schema.required = check(texts(node), member, pointer, "a list of names") ?? []
    case "additionalProperties": schema.additionalProperties = entries(node, pointer)
    case "items": schema.items = entries(node, pointer)
    case "enum": schema.allowedValues = check(node.array, member, pointer, "a list")
    case "const": schema.constant = node
    case "default": schema.defaultValue = node
    case "examples": schema.examples = check(node.array, member, pointer, "a list") ?? []
    case "minimum": schema.minimum = check(node.number, member, pointer, "a number")
    case "maximum": schema.maximum = check(node.number, member, pointer, "a number")
    case "minLength": schema.minLength = check(length(node), member, pointer, "a whole number from 0")
    case "maxLength": schema.maxLength = check(length(node), member, pointer, "a whole number from 0")
    case "x-relay-secret":
      schema.secret = check(
        node.string.flatMap(JSONSchema.SecretMark.init), member, pointer, #""required" or "allowed""#)
    case "x-relay-template":
      let mark = check(node.bool, member, pointer, "true or false")
      schema.isTemplate = mark == true
      schema.passesBraces = mark == false
    case "x-relay-access":
      schema.access = check(
        node.string.flatMap(JSONSchema.AccessMark.init), member, pointer, #""read", "write" or "replace""#)
    case "x-relay-url":
      schema.urlSchemes = check(texts(node).flatMap { $0.isEmpty ? nil : $0 }, member, pointer, "a list of schemes")
    case "x-relay-sender": schema.isSender = check(node.bool, member, pointer, "true or false") == true
    case "$schema", "$comment": break
    default:
      problems.append(SchemaProblem(.unsupportedKeyword(member.name), pointer: pointer, range: member.nameRange))
    }
  }

  private mutating func check<Value>(
    _ value: Value?, _ member: JSONMember, _ pointer: String, _ expected: String
  ) -> Value? {
    if value == nil {
      let kind = SchemaProblem.Kind.badKeyword(member.name, expected: expected)
      problems.append(SchemaProblem(kind, pointer: pointer, range: member.node.range))
    }
    return value
  }

  private mutating func types(_ node: JSONNode, _ pointer: String, _ schema: inout JSONSchema) {
    let names = node.string.map { [$0] } ?? texts(node) ?? []
    let types = names.compactMap(JSONSchema.ValueType.init)
    schema.types = types
    guard types.isEmpty || types.count != names.count else { return }
    let known = JSONSchema.ValueType.allCases.map(\.rawValue).joined(separator: ", ")
    let kind = SchemaProblem.Kind.badKeyword("type", expected: "one or a list of \(known)")
    problems.append(SchemaProblem(kind, pointer: pointer, range: node.range))
  }

  private mutating func entries(_ node: JSONNode, _ pointer: String) -> JSONSchema.Entries {
    if let flag = node.bool { return flag ? .any : .none }
    return .schema(schema(node, pointer))
  }

  private func texts(_ node: JSONNode) -> [String]? {
    guard let elements = node.array else { return nil }
    let texts = elements.compactMap(\.string)
    return texts.count == elements.count ? texts : nil
  }

  private func length(_ node: JSONNode) -> Int? {
    guard let length = node.integer, length >= 0 else { return nil }
    return Int(exactly: length)
  }
}
