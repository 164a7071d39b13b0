// SPDX-License-Identifier: Apache-2.0
import RelayJSON

/// The JSON Schema (2020-12) of pipelines.json, with the settings of the targets at hand; editors complete and check
/// by it.
package enum ConfigurationSchema {
  package static func json(targets: [TargetManifest]) -> [UInt8] {
    var members = object(PipelinesFile.root, targets)
    members.insert(member("$schema", "https://json-schema.org/draft/2020-12/schema"), at: 0)
    members.insert(member("title", "Relay Host pipelines"), at: 1)
    members.append(JSONMember(name: "$defs", node: objectNode([JSONMember(name: "secret", node: secret)])))
    return objectNode(members).bytes(.pretty)
  }

  private static let secret = objectNode([
    member("title", "A secret by its name"),
    member("description", "relay-host secret set NAME stores it; the value is never in this file."),
    member("type", "object"),
    JSONMember(
      name: "properties",
      node: objectNode([
        JSONMember(
          name: "secret", node: objectNode([member("type", "string"), member("pattern", idPattern)]))
      ])),
    JSONMember(name: "required", node: texts(["secret"])),
    JSONMember(name: "additionalProperties", node: JSONNode(.bool(false))),
  ])

  private static let idPattern = "^[a-z0-9][a-z0-9-]{0,62}$"

  private static func object(_ declaration: ObjectDeclaration, _ targets: [TargetManifest]) -> [JSONMember] {
    var members = [
      member("description", declaration.summary), member("type", "object"),
      JSONMember(
        name: "properties",
        node: objectNode(declaration.keys.map { JSONMember(name: $0.name, node: key($0, targets)) })),
    ]
    let required = declaration.keys.filter(\.isRequired).map(\.name)
    if !required.isEmpty { members.append(JSONMember(name: "required", node: texts(required))) }
    members.append(JSONMember(name: "additionalProperties", node: JSONNode(.bool(false))))
    if declaration.name == PipelinesFile.load.name, !targets.isEmpty {
      members.append(JSONMember(name: "allOf", node: JSONNode(.array(targets.map(condition)))))
    }
    return members
  }

  private static func key(_ key: KeyDeclaration, _ targets: [TargetManifest]) -> JSONNode {
    var members = [member("title", key.name), member("description", key.summary)]
    members += type(key.type, targets).filter { $0.name != "description" }
    if let value = key.defaultValue { members.append(JSONMember(name: "default", node: JSONNode(value))) }
    return objectNode(members)
  }

  private static func type(_ type: ValueType, _ targets: [TargetManifest]) -> [JSONMember] {
    switch type {
    case .flag: return [member("type", "boolean")]
    case .integer(let bounds):
      var members = [member("type", "integer"), number("minimum", bounds.lowerBound)]
      if bounds.upperBound < Int64.max { members.append(number("maximum", bounds.upperBound)) }
      return members
    case .duration: return [member("type", "string"), member("pattern", "^[0-9]+(ms|s|m|h|d|w)$")]
    case .size: return [member("type", "string"), member("pattern", "^[0-9]+(B|KB|MB|GB|TB)$")]
    case .id: return [member("type", "string"), member("pattern", idPattern)]
    case .date: return [member("type", "string"), member("pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    case .time: return [member("type", "string"), member("pattern", "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    case .url: return [member("type", "string"), member("pattern", "^https?://")]
    case .secret: return [member("$ref", "#/$defs/secret")]
    case .word(let words): return [JSONMember(name: "enum", node: texts(words))]
    case .list(let entry, let atLeast):
      var members = [member("type", "array"), JSONMember(name: "items", node: objectNode(self.type(entry, targets)))]
      if atLeast > 0 { members.append(number("minItems", Int64(atLeast))) }
      return members
    case .object(let declaration): return object(declaration, targets)
    case .either(let types):
      let choices = types.map { objectNode(self.type($0, targets)) }
      return [JSONMember(name: "anyOf", node: JSONNode(.array(choices)))]
    case .targetID:
      // Known ones for completion; any other may be installed later.
      let known = JSONMember(name: "examples", node: texts(targets.map(\.id)))
      return [member("type", "string")] + (targets.isEmpty ? [] : [known])
    case .text, .version, .path, .zone, .domain, .listenAddress:
      return [member("type", "string"), number("minLength", 1)]
    case .any: return [member("type", "object")]
    }
  }

  /// `if` the target is this one, `then` its settings are these.
  private static func condition(_ target: TargetManifest) -> JSONNode {
    let isThis = objectNode([JSONMember(name: "target", node: objectNode([member("const", target.id)]))])
    let condition = objectNode([
      JSONMember(name: "properties", node: isThis), JSONMember(name: "required", node: texts(["target"])),
    ])
    let settings = objectNode([JSONMember(name: "settings", node: settingsSchema(target.settings.source))])
    var consequence = [JSONMember(name: "properties", node: settings)]
    if !target.settings.required.isEmpty {
      consequence.append(JSONMember(name: "required", node: texts(["settings"])))
    }
    return objectNode([
      JSONMember(name: "if", node: condition), JSONMember(name: "then", node: objectNode(consequence)),
    ])
  }

  /// A target's own schema, with settings that take secrets opened for references to them.
  private static func settingsSchema(_ node: JSONNode) -> JSONNode {
    guard let members = node.object else { return node }
    let reference = objectNode([member("$ref", "#/$defs/secret")])
    switch node["x-relay-secret"]?.string {
    case "required":
      let words = members.filter { ["title", "description"].contains($0.name) }
      return objectNode(words + [member("$ref", "#/$defs/secret")])
    case "allowed":
      let words = members.filter { ["title", "description"].contains($0.name) }
      let plain = objectNode(members.filter { !["title", "description", "x-relay-secret"].contains($0.name) })
      return objectNode(words + [JSONMember(name: "anyOf", node: JSONNode(.array([plain, reference])))])
    default: break
    }
    return objectNode(
      members.map { member in
        switch member.name {
        case "items", "additionalProperties": JSONMember(name: member.name, node: settingsSchema(member.node))
        case "properties":
          JSONMember(
            name: member.name,
            node: objectNode(
              (member.node.object ?? []).map { JSONMember(name: $0.name, node: settingsSchema($0.node)) }))
        default: member
        }
      })
  }

  private static func member(_ name: String, _ text: String) -> JSONMember {
    JSONMember(name: name, node: JSONNode(.string(text)))
  }

  private static func number(_ name: String, _ value: Int64) -> JSONMember {
    JSONMember(name: name, node: JSONNode(.number(JSONNumber(value))))
  }

  private static func texts(_ texts: [String]) -> JSONNode { JSONNode(.array(texts.map { JSONNode(.string($0)) })) }

  private static func objectNode(_ members: [JSONMember]) -> JSONNode { JSONNode(.object(members)) }
}
