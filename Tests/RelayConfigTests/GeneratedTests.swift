// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@Suite struct `What is made from the declarations` {
  private var root: String { PathRules.parent(of: PathRules.parent(of: PathRules.parent(of: #filePath))) }

  @Test func `docs of codes are up to date`() throws {
    try expectGolden(DiagnosticCode.documentation(), "codes.md", from: "\(root)/x", in: "docs")
  }

  @Test func `docs of the configuration are up to date`() throws {
    try expectGolden(ConfigurationDocumentation.page(), "configuration.md", from: "\(root)/x", in: "docs")
  }

  @Test func `the JSON Schema holds the settings of the targets at hand`() throws {
    let bytes = ConfigurationSchema.json(targets: Samples.targets)
    try expectGolden(String(decoding: bytes, as: UTF8.self), "pipelines.schema.json")
    let schema = try JSONTree.parse(bytes)
    #expect(JSONTree.duplicateNames(in: schema).isEmpty)
    let load = schema["properties"]?["pipelines"]?["items"]?["properties"]?["load"]
    let conditions = load?["allOf"]?.array ?? []
    #expect(conditions.map { $0["if"]?["properties"]?["target"]?["const"]?.string } == ["http", "folder"])
    let settings = conditions.first?["then"]?["properties"]?["settings"]?["properties"]
    #expect(settings?["bearer"]?["$ref"]?.string == "#/$defs/secret")
    #expect(settings?["url"]?["anyOf"]?.array?.count == 2)
  }

  @Test func `each key is explained`() throws {
    func check(_ node: JSONNode, _ path: String) {
      for member in node["properties"]?.object ?? [] where path.hasPrefix("/") {
        #expect(member.node["description"]?.string?.isEmpty == false, "\(path)/\(member.name)")
        check(member.node, "\(path)/\(member.name)")
        if let items = member.node["items"] { check(items, "\(path)/\(member.name)") }
      }
    }
    check(try JSONTree.parse(ConfigurationSchema.json(targets: [])), "/")
  }
}

@Suite struct `Quantities` {
  @Test(
    arguments: [
      ("500ms", 500), ("30s", 30_000), ("15m", 900_000), ("6h", 21_600_000), ("2d", 172_800_000), ("1w", 604_800_000),
      ("0s", 0), ("", nil), ("5", nil), ("s", nil), ("1.5h", nil), ("-1s", nil), ("1 s", nil), ("1S", nil),
      ("+1s", nil),
      ("9223372036854775807w", nil), ("99999999999999999999s", nil), ("1s1", nil), ("１s", nil),
    ] as [(String, Int64?)])
  func `a duration is a number and a unit`(text: String, milliseconds: Int64?) {
    #expect(Quantity.duration(text) == milliseconds)
  }

  @Test(
    arguments: [
      ("64KB", 64_000), ("10MB", 10_000_000), ("2GB", 2_000_000_000), ("1TB", 1_000_000_000_000), ("7B", 7),
      ("1kb", nil),
      ("1KiB", nil), ("9223373TB", nil), ("9223372TB", 9_223_372_000_000_000_000),
    ] as [(String, Int64?)])
  func `a size is a number and a unit`(text: String, bytes: Int64?) {
    #expect(Quantity.size(text) == bytes)
  }

  @Test(arguments: ["1ms", "90s", "2h", "1w", "8d"])
  func `a duration is written as it is read`(text: String) throws {
    #expect(Quantity.text(milliseconds: try #require(Quantity.duration(text))) == text)
  }
}
