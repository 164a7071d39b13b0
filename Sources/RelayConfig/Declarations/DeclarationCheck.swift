// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Compares a tree with its declaration and notes every difference.
struct DeclarationCheck {
  var problems: DiagnosticList
  let family: CodeFamily
  let environment: ConfigurationEnvironment
  /// Where the reader already found something: a second word about the same place would only confuse.
  private let syntaxOffsets: Set<Int>

  init(
    problems: DiagnosticList, family: CodeFamily, environment: ConfigurationEnvironment, syntax: [JSONError] = []
  ) {
    self.problems = problems
    self.family = family
    self.environment = environment
    self.syntaxOffsets = Set(syntax.map(\.offset))
  }

  /// Keys that are there twice, anywhere.
  mutating func checkDuplicates(in node: JSONNode) {
    for duplicate in JSONTree.duplicateNames(in: node) {
      problems.add(
        family.duplicateKey, "key \(quoted(duplicate.name)) is there twice", hint: "remove one of the two",
        at: duplicate.range)
    }
  }

  mutating func checkObject(_ node: JSONNode, _ declaration: ObjectDeclaration) {
    guard let members = node.object else {
      wrongType(node, declaration.name, .object(declaration))
      return
    }
    for key in declaration.keys where key.isRequired && node[key.name] == nil {
      problems.add(
        family.missingKey, "key \"\(key.name)\" is missing in \(declaration.name)",
        hint: "add \"\(key.name)\": \(key.type.expectation)", at: node.openingRange)
    }
    for member in members {
      guard let key = declaration[member.name] else {
        problems.add(
          family.unknownKey, "unknown key \(quoted(member.name)) in \(declaration.name)",
          hint: Suggestion.hint(forKey: member.name, among: declaration.keys.map(\.name)), at: member.nameRange)
        continue
      }
      check(member.node, key.type, key.name)
    }
  }

  private mutating func check(_ node: JSONNode, _ type: ValueType, _ name: String) {
    if syntaxOffsets.contains(node.range.lowerBound) && node.isNull { return }
    if case .secret = type, node.string != nil {
      problems.mask(node.range)
      problems.add(
        .secretPlainText, "\"\(name)\" is a secret and can't be written into this file",
        hint: "run \"relay-host secret set \(name)\", then write {\"secret\": \"\(name)\"} here", at: node.range)
      return
    }
    guard type.kinds.contains(node.kind) || type.kinds.contains(.any) else {
      wrongType(node, "\"\(name)\"", type)
      return
    }
    switch type {
    case .either(let types): checkEither(node, types, name)
    case .object(let declaration): checkObject(node, declaration)
    case .list(let entry, let atLeast):
      let elements = node.array ?? []
      if elements.count < atLeast {
        bad(.configOutOfRange, "\"\(name)\" is empty", hint: "leave the key out or put something in", node)
      }
      for element in elements { check(element, entry, name) }
    case .secret: checkSecret(node, name)
    case .integer(let bounds):
      guard let number = node.integer else {
        wrongType(node, "\"\(name)\"", type)
        return
      }
      checkBounds(number, bounds, name, node) { String($0) }
    default: checkText(node, type, name)
    }
  }

  private mutating func checkText(_ node: JSONNode, _ type: ValueType, _ name: String) {
    guard let text = node.string else { return }
    var code = DiagnosticCode.configBadValue
    var hint: String?
    let isGood: Bool
    switch type {
    case .text, .path: (isGood, hint) = (!text.isEmpty && !text.utf8.contains(0), "write something")
    case .duration(let bounds):
      code = .configBadDuration
      if let duration = Quantity.duration(text) {
        checkBounds(duration, bounds, name, node) { Quantity.text(milliseconds: $0) }
        return
      }
      (isGood, hint) = (false, "a whole number and ms, s, m, h, d or w")
    case .size(let bounds):
      code = .configBadSize
      if let size = Quantity.size(text) {
        checkBounds(size, bounds, name, node) { Quantity.text(bytes: $0) }
        return
      }
      (isGood, hint) = (false, "a whole number and B, KB, MB, GB or TB")
    case .id:
      (code, isGood, hint) = (.configBadID, Names.isID(text), "at most 63 of them, the first a letter or a digit")
    case .targetID:
      (code, isGood, hint) = (.configBadID, Names.isTargetID(text), "such as \"http\" or \"org.example.thing\"")
    case .version: isGood = Version(text) != nil
    case .date: (code, isGood, hint) = (.configBadDate, CalendarDate(text) != nil, "it must exist in the calendar")
    case .time: (code, isGood, hint) = (.configBadTime, TimeOfDay(text) != nil, "from 00:00 to 23:59")
    case .zone:
      (code, isGood, hint) = (
        .configBadZone, environment.knowsZone(text), "a name from the IANA list that this machine has"
      )
    case .domain: isGood = Names.isDomain(text)
    case .listenAddress: (code, isGood, hint) = (.configBadAddress, ListenAddress(text) != nil, "[::1]:8480 for IPv6")
    case .url: (code, isGood) = (.configBadURL, WebAddress.isGood(text))
    case .word(let words): (isGood, hint) = (words.contains(text), Suggestion.hint(for: text, among: words))
    default: return
    }
    if !isGood { bad(code, "\"\(name)\" must be \(type.expectation), not \(quoted(text))", hint: hint, node) }
  }

  private mutating func checkEither(_ node: JSONNode, _ types: [ValueType], _ name: String) {
    let fitting = types.filter { $0.kinds.contains(node.kind) }
    if fitting.count == 1 {
      check(node, fitting[0], name)
      return
    }
    let declarations = fitting.compactMap { if case .object(let declaration) = $0 { declaration } else { nil } }
    let chosen = declarations.max { $0.matches(node) < $1.matches(node) }
    if let chosen, chosen.matches(node) > 0 {
      checkObject(node, chosen)
    } else {
      bad(.configMissingKey, "\"\(name)\" must be \(ValueType.either(fitting).expectation)", hint: nil, node)
    }
  }

  private mutating func checkSecret(_ node: JSONNode, _ name: String) {
    guard case .name(let secret) = SecretReference(node) else {
      wrongType(node, "\"\(name)\"", .secret)
      return
    }
    if !Names.isID(secret) { bad(.secretBadName, SecretReference.badNameMessage(secret), hint: nil, node) }
  }

  private mutating func checkBounds(
    _ value: Int64, _ bounds: ClosedRange<Int64>, _ name: String, _ node: JSONNode, _ text: (Int64) -> String
  ) {
    if value < bounds.lowerBound {
      bad(.configOutOfRange, "\"\(name)\" must be at least \(text(bounds.lowerBound))", hint: nil, node)
    } else if value > bounds.upperBound {
      bad(.configOutOfRange, "\"\(name)\" must be at most \(text(bounds.upperBound))", hint: nil, node)
    }
  }

  private mutating func wrongType(_ node: JSONNode, _ what: String, _ type: ValueType) {
    problems.add(
      family.wrongType, "\(what) must be \(type.expectation), not \(node.typeForPeople)", hint: nil, at: node.range)
  }

  private mutating func bad(_ code: DiagnosticCode, _ message: String, hint: String?, _ node: JSONNode) {
    problems.add(family.badValue ?? code, message, hint: hint, at: node.range)
  }
}

extension ObjectDeclaration {
  /// How many of its keys a node holds, required ones first of all.
  func matches(_ node: JSONNode) -> Int {
    keys.reduce(0) { $0 + (node[$1.name] == nil ? 0 : $1.isRequired ? 2 : 1) }
  }
}

extension JSONNode {
  var kind: ValueType.Kind {
    switch value {
    case .null: .any
    case .bool: .flag
    case .number: .number
    case .string: .text
    case .array: .list
    case .object: .object
    }
  }

  var typeForPeople: String {
    switch value {
    case .null: "null"
    case .bool(let flag): String(flag)
    case .number(let number): number.text
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The brace or bracket that opens it.
  var openingRange: Range<Int> { range.lowerBound..<min(range.upperBound, range.lowerBound + 1) }
}

/// Text as a message shows it: quoted, on one line, and not all of it when it is long.
func quoted(_ text: String) -> String {
  let limit = 80
  let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
  return JSONNode(.string(text.unicodeScalars.count > limit ? shown + "…" : shown)).text()
}
