// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import Testing

@Suite struct `The schema of settings` {
  private func tree(_ text: String) throws -> JSONNode { try JSONTree.parse(Array(text.utf8)) }

  private let schemaText = #"""
    {
      "type": "object", "title": "Settings", "required": ["url"], "additionalProperties": false,
      "properties": {
        "url": {"type": "string", "minLength": 3, "maxLength": 10, "x-relay-template": true, "x-relay-secret": "allowed"},
        "method": {"enum": ["POST", "PUT"], "default": "POST"},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "ratio": {"type": ["number", "null"], "minimum": 0.5},
        "on": {"const": true},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "to": {"type": "array", "items": {"type": "string"}},
        "empty": {"type": "array", "items": false},
        "file": {"type": "string", "x-relay-access": "write", "x-relay-template": false, "examples": ["a"], "description": "where"}
      }
    }
    """#

  @Test func `a schema is read with its marks`() throws {
    let (schema, problems) = JSONSchema.parse(try tree(schemaText))
    #expect(problems.isEmpty)
    #expect(schema.properties.map(\.name).prefix(3) == ["url", "method", "port"])
    #expect(schema.schema(ofMember: "url")?.secret == .allowed)
    #expect(schema.schema(ofMember: "url")?.isTemplate == true)
    #expect(
      schema.schema(ofMember: "file")?.isTemplate == false && schema.schema(ofMember: "file")?.passesBraces == true)
    #expect(schema.schema(ofMember: "method")?.passesBraces == false)
    #expect(schema.schema(ofMember: "file")?.access == .write)
    #expect(schema.schema(ofMember: "method")?.defaultValue?.string == "POST")
    #expect(schema.schema(ofMember: "other") == nil)
  }

  @Test(
    arguments: [
      (#"{"url": "abc"}"#, []),
      (#"{"url": "ab"}"#, [#""url" must have at least 3 characters"#]),
      (#"{"url": "äöüäöüäöüäöü"}"#, [#""url" must have at most 10 characters"#]),
      (#"{}"#, [#"key "url" is missing"#]),
      (
        #"{"url": 3, "port": "x"}"#,
        [#""url" must be a string, not an integer"#, #""port" must be an integer, not a string"#]
      ),
      (#"{"url": "abc", "prot": 1}"#, [#"unknown key "prot""#]),
      (#"{"url": "abc", "port": 0}"#, [#""port" must be at least 1"#]),
      (#"{"url": "abc", "port": 65536}"#, [#""port" must be at most 65535"#]),
      (#"{"url": "abc", "port": 1.0}"#, []),
      (#"{"url": "abc", "port": 1.5}"#, [#""port" must be an integer, not a number"#]),
      (#"{"url": "abc", "ratio": null}"#, []),
      (#"{"url": "abc", "ratio": 0.25}"#, [#""ratio" must be at least 0.5"#]),
      (#"{"url": "abc", "method": "GET"}"#, [#""method" must be "POST" or "PUT""#]),
      (#"{"url": "abc", "on": false}"#, [#""on" must be true"#]),
      (#"{"url": "abc", "headers": {"a/b": 1}}"#, [#""headers/a~1b" must be a string, not an integer"#]),
      (
        #"{"url": "abc", "to": ["a", 2, null]}"#,
        [#""to/1" must be a string, not an integer"#, #""to/2" must be a string, not null"#]
      ),
      (#"{"url": "abc", "empty": [1]}"#, [#""empty" must be empty"#]),
      (#"[]"#, ["must be an object, not an array"]),
    ] as [(String, [String])])
  func `a value is checked in one pass`(text: String, messages: [String]) throws {
    let schema = JSONSchema.parse(try tree(schemaText)).schema
    #expect(schema.validate(try tree(text)).map(\.message) == messages)
  }

  @Test func `a problem has the bytes it is about`() throws {
    let schema = JSONSchema.parse(try tree(schemaText)).schema
    let problems = schema.validate(try tree(#"{"url": 3, "prot": 1}"#))
    #expect(problems.map(\.range) == [11..<17, 8..<9])
    #expect(problems.map(\.pointer) == ["", "url"])
  }

  @Test func `what is outside of the subset is told with its place`() throws {
    let text = #"""
      {"type": "objekt", "pattern": "x", "required": ["a"], "additionalProperties": false, "minLength": -1,
       "properties": {"b": {"type": "integer", "default": "x"}, "c": 3}, "x-relay-secret": "yes", "enum": 1}
      """#
    let problems = JSONSchema.parse(try tree(text)).problems
    #expect(
      problems.map(\.kind) == [
        .badKeyword("type", expected: "one or a list of object, array, string, integer, number, boolean, null"),
        .unsupportedKeyword("pattern"), .badKeyword("minLength", expected: "a whole number from 0"), .badDefault,
        .notASchema, .badKeyword("x-relay-secret", expected: #""required" or "allowed""#),
        .badKeyword("enum", expected: "a list"), .undeclaredRequired("a"),
      ])
    #expect(problems.map(\.pointer).contains("properties/c"))
  }
}
