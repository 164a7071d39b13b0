// SPDX-License-Identifier: Apache-2.0
import RelayJSON

extension TargetManifest {
  static let declaration = ObjectDeclaration(
    name: "the manifest", summary: "What a target says of itself.",
    keys: [
      KeyDeclaration("id", .targetID, required: true, "`http`, or reverse DNS for third parties: `org.example.thing`."),
      KeyDeclaration("name", .text, required: true, "The name for people."),
      KeyDeclaration("version", .version, required: true, "The target's own version."),
      KeyDeclaration("license", .text, "An SPDX expression."),
      KeyDeclaration(
        "unit", .word(Unit.allCases.map(\.rawValue)), default: .string("part"), "What is delivered at once."),
      KeyDeclaration(
        "maximumBytes", .integer(1...Int64.max), defaultText: "no fixed limit", "The most bytes one delivery may have."),
      KeyDeclaration(
        "idempotent", .flag, default: .bool(false), "Whether the receiver recognises a repeat."),
      KeyDeclaration(
        "finalAnswer", .either([.integer(1...86_400), .duration(1000...86_400_000)]), default: .string("60s"),
        "The longest silence to bear after everything was sent: seconds, or a duration."),
      KeyDeclaration("settings", .any, "A JSON Schema of type object."),
      KeyDeclaration("minimumHost", .version, "The oldest Relay Host that it works with."),
    ])

  /// Reads what `describe` handed over. The manifest is nil if there is any error.
  ///
  /// - Parameters:
  ///   - origin: the target's file, for messages.
  ///   - hostVersion: this program's version; nil leaves `minimumHost` unchecked.
  package static func read(
    _ bytes: [UInt8], origin: String, hostVersion: String? = nil
  ) -> (manifest: TargetManifest?, problems: [Diagnostic]) {
    var problems = DiagnosticList(file: origin, bytes: bytes)
    let root: JSONNode
    do throws(JSONError) {
      root = try JSONTree.parse(bytes, limits: JSONLimits(bytes: 1 << 20))
    } catch {
      problems.add(error)
      return (nil, problems.sorted())
    }
    var check = DeclarationCheck(problems: problems, family: .manifest, environment: ConfigurationEnvironment())
    check.checkDuplicates(in: root)
    check.checkObject(root, declaration)
    problems = check.problems
    let object = DeclaredObject(root, declaration)
    let schema = settingsSchema(root["settings"], &problems)
    if let minimum = object.text("minimumHost").flatMap(Version.init), let host = hostVersion.flatMap(Version.init),
      host < minimum
    {
      problems.add(
        .manifestHostTooOld, "this target needs Relay Host \(object.text("minimumHost") ?? "")",
        hint: "update Relay Host, or use an older version of the target", at: root["minimumHost"]?.range)
    }
    let diagnostics = problems.sorted()
    guard !problems.blocksLoading, let id = object.text("id"), let name = object.text("name"),
      let version = object.text("version"), let unit = object.text("unit").flatMap(Unit.init)
    else { return (nil, diagnostics) }
    let seconds = root["finalAnswer"]?.integer
    let manifest = TargetManifest(
      id: id, name: name, version: version, license: object.text("license"), unit: unit,
      maximumBytes: object.integer("maximumBytes"), isIdempotent: object.flag("idempotent"),
      finalAnswer: seconds.map { $0 &* 1000 } ?? object.duration("finalAnswer") ?? 60_000, settings: schema,
      minimumHost: object.text("minimumHost"))
    return (manifest, diagnostics)
  }

  private static func settingsSchema(_ node: JSONNode?, _ problems: inout DiagnosticList) -> JSONSchema {
    guard let node else { return JSONSchema() }
    let (schema, found) = JSONSchema.parse(node)
    for problem in found {
      let place = problem.pointer.isEmpty ? "settings" : "settings/\(problem.pointer)"
      problems.add(.manifestBadSchema, "\(place): \(problem.withoutPlace)", at: problem.range)
    }
    if found.isEmpty, schema.types != [.object] {
      problems.add(.manifestBadSchema, "settings must be a schema of \"type\": \"object\"", at: node.range)
    }
    return schema
  }
}

extension SchemaProblem {
  /// The message without the pointer, where the place is told otherwise.
  var withoutPlace: String { SchemaProblem(kind, pointer: "", range: range).message }
}
