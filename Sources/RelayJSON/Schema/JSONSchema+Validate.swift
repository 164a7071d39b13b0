// SPDX-License-Identifier: Apache-2.0

extension JSONSchema {
  /// Every way in which a value departs from the schema, in the order of the text.
  package func validate(_ node: JSONNode, pointer: String = "") -> [SchemaProblem] {
    var problems = problemsOfValue(node, pointer: pointer)
    // Below a value of the wrong type there is nothing to say.
    if problems.contains(where: { if case .wrongType = $0.kind { true } else { false } }) { return problems }
    switch node.value {
    case .object(let members):
      for member in members {
        let below = JSONPointer.appending(member.name, to: pointer)
        problems += schema(ofMember: member.name)?.validate(member.node, pointer: below) ?? []
      }
    case .array(let elements):
      guard let schema = items.schema else { break }
      for (index, element) in elements.enumerated() {
        problems += schema.validate(element, pointer: JSONPointer.appending(String(index), to: pointer))
      }
    default: break
    }
    return problems
  }

  /// What is wrong with the value apart from its members and elements.
  package func problemsOfValue(_ node: JSONNode, pointer: String) -> [SchemaProblem] {
    guard allows(node) else {
      let kind = SchemaProblem.Kind.wrongType(expected: types.map(\.rawValue), found: node.typeName)
      return [SchemaProblem(kind, pointer: pointer, range: node.range)]
    }
    var problems: [SchemaProblem] = []
    func add(_ kind: SchemaProblem.Kind, _ range: Range<Int>? = nil) {
      problems.append(SchemaProblem(kind, pointer: pointer, range: range ?? node.range))
    }
    if let allowed = constant.map({ [$0] }) ?? allowedValues, !allowed.contains(node) {
      add(.notAllowed(values: allowed.map { $0.text() }))
    }
    switch node.value {
    case .number(let number):
      if let minimum, number.isLess(than: minimum) { add(.tooSmall(minimum: minimum.text)) }
      if let maximum, maximum.isLess(than: number) { add(.tooLarge(maximum: maximum.text)) }
    case .string(let text):
      let length = text.unicodeScalars.count
      if let minLength, length < minLength { add(.tooShort(minimum: minLength)) }
      if let maxLength, length > maxLength { add(.tooLong(maximum: maxLength)) }
    case .array(let elements):
      if items == .none, let first = elements.first { add(.notEmpty, first.range) }
    case .object(let members):
      // The caret goes under the brace that opens the object.
      let opening = node.range.lowerBound..<min(node.range.upperBound, node.range.lowerBound + 1)
      for name in required where node[name] == nil { add(.missingMember(name: name), opening) }
      for member in members where schema(ofMember: member.name) == nil {
        add(.unknownMember(name: member.name, known: properties.map(\.name)), member.nameRange)
      }
    default: break
    }
    return problems
  }

  private func allows(_ node: JSONNode) -> Bool {
    if types.isEmpty { return true }
    return types.contains { type in
      switch (type, node.value) {
      case (.object, .object), (.array, .array), (.string, .string), (.number, .number), (.boolean, .bool),
        (.null, .null):
        true
      case (.integer, .number(let number)): number.integer != nil
      default: false
      }
    }
  }
}

extension JSONNumber {
  fileprivate func isLess(than other: JSONNumber) -> Bool {
    if let left = integer, let right = other.integer { return left < right }
    guard let left = double, let right = other.double else { return false }
    return left < right
  }
}
