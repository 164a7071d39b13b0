// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// Checks a pipeline's settings against its target's schema and flattens them.
struct SettingsResolver {
  let target: TargetManifest
  let pipelineID: String
  /// Relative paths start here.
  let folder: String
  let protected: ProtectedPaths
  let environment: ConfigurationEnvironment
  var problems: DiagnosticList
  private(set) var result = ResolvedSettings()

  init(
    target: TargetManifest, pipelineID: String, folder: String, protected: ProtectedPaths,
    environment: ConfigurationEnvironment, problems: DiagnosticList
  ) {
    self.target = target
    self.pipelineID = pipelineID
    self.folder = folder
    self.protected = protected
    self.environment = environment
    self.problems = problems
  }

  /// Settings that are absent count as an empty object at the place of `load`.
  mutating func resolve(_ settings: JSONNode?, load: JSONNode) {
    let node = settings ?? JSONNode(.object([]), range: load.openingRange)
    result.json = walk(node, target.settings, "", isTyped: true).bytes()
  }

  /// Notes what is wrong with a value, collects what it says and returns it with its defaults.
  private mutating func walk(_ node: JSONNode, _ schema: JSONSchema, _ path: String, isTyped: Bool) -> JSONNode {
    // A default's place is in the manifest, and the manifest was checked: nothing is told about it here.
    if isTyped, let taken = secret(node, schema, path) { return taken }
    let found = schema.problemsOfValue(node, pointer: path)
    if isTyped, let schemes = schema.urlSchemes, let text = node.string, !WebAddress.isGood(text, schemes: schemes) {
      problems.add(
        .configBadURL, "\"\(path)\" must be an address that starts with \(Self.alternatives(schemes)) and names a host",
        hint: "such as \(schemes.first ?? "https")://example.org/", at: node.range)
    }
    if let text = node.string, text.contains("{{") {
      if schema.isTemplate, !found.contains(where: \.isAboutType) {
        return template(text, node, schema, path, isTyped)
      }
      if isTyped, !schema.passesBraces {
        problems.add(
          .configTemplateIgnored, "\"\(path)\" holds {{ but is delivered as it stands",
          hint: "target \(target.id) renders no template here", at: node.range)
      }
    }
    if isTyped {
      for problem in found { add(problem, schema) }
      if found.contains(where: \.isAboutType), schema.holdsSecret { problems.mask(textsIn: node) }
    }
    if found.contains(where: \.isAboutType) { return node }
    switch node.value {
    case .object(let members): return object(members, node, schema, path, isTyped)
    case .array(let elements):
      result.entries.append(.init(path: path, value: .list(count: elements.count)))
      guard let entry = schema.items.schema else { return node }
      var taken: [JSONNode] = []
      for (index, element) in elements.enumerated() {
        taken.append(walk(element, entry, JSONPointer.appending(String(index), to: path), isTyped: isTyped))
      }
      return JSONNode(.array(taken))
    case .string(let text): return self.text(text, node, schema, path, isTyped)
    case .number(let number):
      let value = number.integer.map(SettingValue.integer) ?? number.double.map(SettingValue.real)
      if let value { result.entries.append(.init(path: path, value: value)) }
    case .bool(let flag): result.entries.append(.init(path: path, value: .flag(flag)))
    case .null: result.entries.append(.init(path: path, value: .null))
    }
    return node
  }

  private mutating func object(
    _ members: [JSONMember], _ node: JSONNode, _ schema: JSONSchema, _ path: String, _ isTyped: Bool
  ) -> JSONNode {
    var present: [(member: JSONMember, schema: JSONSchema, isTyped: Bool)] = []
    var names: Set<String> = []
    for member in members {
      if names.insert(member.name).inserted, let schema = schema.schema(ofMember: member.name) {
        present.append((member, schema, isTyped))
      } else if isTyped {
        // A misspelled or repeated key may well hold a secret.
        problems.mask(textsIn: member.node)
      }
    }
    for property in schema.properties where !names.contains(property.name) {
      guard let value = property.schema.defaultValue else { continue }
      present.append((JSONMember(name: property.name, node: value), property.schema, false))
    }
    if !path.isEmpty { result.entries.append(.init(path: path, value: .object(names: present.map(\.member.name)))) }
    var taken: [JSONMember] = []
    for entry in present {
      let below = JSONPointer.appending(entry.member.name, to: path)
      let value = walk(entry.member.node, entry.schema, below, isTyped: entry.isTyped)
      taken.append(JSONMember(name: entry.member.name, node: value))
    }
    return JSONNode(.object(taken))
  }

  private static func alternatives(_ schemes: [String]) -> String {
    schemes.map { "\($0)://" }.joined(separator: " or ")
  }

  private mutating func text(
    _ text: String, _ node: JSONNode, _ schema: JSONSchema, _ path: String, _ isTyped: Bool
  ) -> JSONNode {
    if schema.isSender { result.senderDomain = Self.domain(ofSender: text) }
    // A schema's default opens nothing: it is passed on as the text that it is.
    guard let mark = schema.access, isTyped, !text.isEmpty, !text.utf8.contains(0) else {
      result.entries.append(.init(path: path, value: .text(text)))
      return node
    }
    let absolute = PathRules.absolute(text, in: folder)
    let resolved = PathRules.resolvingLinks(absolute)
    if let conflict = protected.conflict(with: AccessPath.opened(resolved, mark)) {
      let because = mark == .replace ? ": a file is replaced through the folder that it lies in" : ""
      problems.add(
        .configProtectedPath, "\"\(path)\" would let target \(target.id) into \(conflict)\(because)",
        hint: mark == .replace ? "put the file into a folder of its own" : "choose a folder apart from it",
        at: node.range)
    }
    result.access.append(AccessPath(path: absolute, resolved: resolved, mode: mark))
    result.entries.append(.init(path: path, value: .text(absolute)))
    return JSONNode(.string(absolute))
  }

  /// Of `a@b` and `Name <a@b>`.
  private static func domain(ofSender text: String) -> String? {
    guard let at = text.lastIndex(of: "@") else { return nil }
    let domain = text[text.index(after: at)...].prefix { $0 != ">" && $0 != " " }.lowercased()
    return Names.isDomain(domain) ? domain : nil
  }

  /// A templated path opens the folder before its first expression, whatever comes out of the expressions later.
  private mutating func templatedPath(_ text: String, _ mark: JSONSchema.AccessMark, _ node: JSONNode, _ path: String)
    -> String
  {
    // A folder with braces in its name would become a part of the template.
    let whole = text.hasPrefix("/") || folder.contains("{{") ? text : folder + "/" + text
    let fixed = whole.part(before: "{{")
    guard fixed.hasPrefix("/"), let slash = fixed.lastIndex(of: "/") else { return whole }
    let absolute = PathRules.absolute(String(fixed[...slash]), in: folder)
    let resolved = PathRules.resolvingLinks(absolute)
    if let conflict = protected.conflict(with: resolved) {
      problems.add(
        .configProtectedPath, "\"\(path)\" would let target \(target.id) into \(conflict)",
        hint: "before the first {{ the path must name a folder apart from it: that folder is opened", at: node.range)
    }
    result.access.append(AccessPath(path: absolute, resolved: resolved, mode: mark == .read ? .read : .write))
    return whole
  }

  private mutating func template(
    _ text: String, _ node: JSONNode, _ schema: JSONSchema, _ path: String, _ isTyped: Bool
  ) -> JSONNode {
    if let fault = environment.checkTemplate(path, text) {
      problems.add(
        fault.code, "template in \"\(path)\", line \(fault.line), column \(fault.column): \(fault.message)",
        at: node.range)
    }
    guard isTyped, let mark = schema.access else {
      result.templated.append(.init(path: path, text: text))
      return node
    }
    let whole = templatedPath(text, mark, node, path)
    result.templated.append(.init(path: path, text: whole))
    return JSONNode(.string(whole))
  }

  /// What the marks on secrets decide; nil when the value is to be read like any other.
  private mutating func secret(_ node: JSONNode, _ schema: JSONSchema, _ path: String) -> JSONNode? {
    guard let mark = schema.secret else {
      // An object of that form may be just what the schema asks for.
      guard case .name = SecretReference(node), !schema.types.isEmpty, !schema.types.contains(.object) else {
        return nil
      }
      problems.add(
        .secretNotAllowed, "\"\(path)\" of target \(target.id) takes no secret", hint: "write the value itself",
        at: node.range)
      return node
    }
    if case .name(let name) = SecretReference(node) {
      if Names.isID(name) {
        result.secrets.append(.init(path: path, name: name))
      } else {
        problems.add(.secretBadName, SecretReference.badNameMessage(name), at: node.range)
      }
      return node
    }
    guard mark == .required else { return nil }
    problems.mask(node.range)
    guard node.string != nil else {
      let expected = "{\"secret\": \"name\"}"
      problems.add(.configWrongType, "\"\(path)\" must be \(expected), not \(node.kindForPeople)", at: node.range)
      return node
    }
    let name = suggestedName(path)
    problems.add(
      .secretPlainText, "\"\(path)\" is a secret and can't be written into this file",
      hint: "run \"relay-host secret set \(name)\", then write {\"secret\": \"\(name)\"} here", at: node.range)
    return node
  }

  private func suggestedName(_ path: String) -> String {
    let last = path.split(separator: "/").last.map { $0.lowercased() } ?? "secret"
    let joined = "\(pipelineID)-\(last)"
    return Names.isID(joined) ? joined : Names.isID(last) ? last : "my-secret"
  }

  private mutating func add(_ problem: SchemaProblem, _ schema: JSONSchema) {
    let place = problem.pointer.isEmpty ? "target \(target.id)" : "\"\(problem.pointer)\" of target \(target.id)"
    switch problem.kind {
    case .unknownMember(let name, let known):
      problems.add(
        .configUnknownKey, "unknown key \(quoted(name)) in \(place)", hint: Suggestion.hint(forKey: name, among: known),
        at: problem.range)
    case .missingMember(let name):
      problems.add(
        .configMissingKey, "key \"\(name)\" is missing in the settings of \(place)",
        hint: "add \"\(name)\": \(schema.placeholder(of: name))",
        at: problem.range)
    case .wrongType: problems.add(.configWrongType, problem.message, at: problem.range)
    case .notAllowed(let values):
      let text = values.compactMap { $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : nil }
      problems.add(.configBadValue, problem.message, hint: hint(problem, text), at: problem.range)
    default: problems.add(.configOutOfRange, problem.message, at: problem.range)
    }
  }

  private func hint(_ problem: SchemaProblem, _ known: [String]) -> String? {
    problems.text(in: problem.range).flatMap { Suggestion.hint(for: $0, among: known) }
  }
}

extension JSONSchema {
  /// Whether a value of this schema takes a secret somewhere.
  fileprivate var holdsSecret: Bool {
    secret != nil || properties.contains { $0.schema.holdsSecret } || items.holdSecret
      || additionalProperties.holdSecret
  }

  /// What to write for a property that is missing: a value's form, and what the property is.
  fileprivate func placeholder(of name: String) -> String {
    let schema = schema(ofMember: name) ?? JSONSchema()
    let example = schema.examples.first.map { "\($0.text()), for example" }
    return (example ?? schema.form) + (schema.title.map { "; its title is \"\($0)\"" } ?? "")
  }

  private var form: String {
    if secret == .required { return "{\"secret\": \"name\"}" }
    if let value = constant ?? allowedValues?.first { return value.text() }
    switch types.first {
    case .object: return "{…}"
    case .array: return "[…]"
    case .integer, .number: return "a number"
    case .boolean: return "true or false"
    case .null: return "null"
    case .string, nil: return "\"…\""
    }
  }
}

extension JSONSchema.Entries {
  fileprivate var holdSecret: Bool {
    if case .schema(let schema) = self { schema.holdsSecret } else { false }
  }
}

extension SchemaProblem {
  fileprivate var isAboutType: Bool {
    if case .wrongType = kind { true } else { false }
  }
}

extension JSONNode {
  /// The kind of value without the value: it may be a secret.
  fileprivate var kindForPeople: String {
    switch value {
    case .number: "a number"
    case .bool: "true or false"
    default: typeForPeople
    }
  }
}

extension String {
  /// What stands before the first occurrence of a text; all of it where there is none.
  fileprivate func part(before mark: String) -> Substring {
    firstRange(of: mark).map { self[..<$0.lowerBound] } ?? self[...]
  }
}
