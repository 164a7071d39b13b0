// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import Testing

@Suite struct `What a target says of itself` {
  private func read(_ text: String, host: String? = "0.1.0") -> (manifest: TargetManifest?, problems: [Diagnostic]) {
    TargetManifest.read(Array(text.utf8), origin: "libx.so", hostVersion: host)
  }

  @Test func `a whole manifest is read`() throws {
    let (manifest, problems) = read(
      #"""
      {"id": "org.example.thing", "name": "Thing", "version": "2.1", "license": "MIT", "unit": "artifact",
       "maximumBytes": 1000, "idempotent": true, "finalAnswer": "10m", "minimumHost": "0.1.0",
       "settings": {"type": "object", "properties": {"a": {"type": "string"}}}}
      """#)
    #expect(problems.isEmpty)
    let read = try #require(manifest)
    #expect(read.id == "org.example.thing")
    #expect(read.unit == .artifact)
    #expect(read.maximumBytes == 1000)
    #expect(read.isIdempotent)
    #expect(read.finalAnswer == 600_000)
    #expect(read.license == "MIT")
    #expect(read.settings.properties.map(\.name) == ["a"])
  }

  @Test func `little is required`() throws {
    let manifest = try #require(read(#"{"id": "x", "name": "X", "version": "1", "unit": "part"}"#).manifest)
    #expect(manifest.finalAnswer == 60_000)
    #expect(!manifest.isIdempotent)
    #expect(manifest.maximumBytes == nil)
    #expect(try #require(read(Samples.httpText).manifest).finalAnswer == 120_000)
  }

  @Test(arguments: [
    ("", ["json.empty"]), ("{", ["json.unexpected-end"]), ("[]", ["manifest.wrong-type"]),
    (#"{"id": "x", "name": "X"}"#, ["manifest.missing-key"]),
    (#"{"id": "X", "name": "X", "version": "1"}"#, ["manifest.bad-value"]),
    (#"{"id": "a..b", "name": "X", "version": "1"}"#, ["manifest.bad-value"]),
    (#"{"id": "x", "name": "X", "version": "one"}"#, ["manifest.bad-value"]),
    (#"{"id": "x", "name": "X", "version": "1", "unit": "both"}"#, ["manifest.bad-value"]),
    (#"{"id": "x", "name": "X", "version": "1", "maximumBytes": "1MB"}"#, ["manifest.wrong-type"]),
    (#"{"id": "x", "name": "X", "version": "1", "finalAnswer": 0}"#, ["manifest.bad-value"]),
    (#"{"id": "x", "id": "y", "name": "X", "version": "1"}"#, ["manifest.duplicate-key"]),
    (#"{"id": "x", "name": "X", "version": "1", "minimumHost": "9.0"}"#, ["manifest.host-too-old"]),
    (#"{"id": "x", "name": "X", "version": "1", "settings": {"type": "string"}}"#, ["manifest.bad-schema"]),
    (
      #"{"id": "x", "name": "X", "version": "1", "settings": {"type": "object", "oneOf": []}}"#, ["manifest.bad-schema"]
    ),
  ])
  func `what is wrong is told and gives no manifest`(text: String, codes: [String]) {
    let (manifest, problems) = read(text)
    #expect(manifest == nil)
    #expect(problems.map(\.code.rawValue) == codes)
  }

  @Test func `a key of a later version is a warning`() {
    let (manifest, problems) = read(#"{"id": "x", "name": "X", "version": "1", "colour": "red"}"#)
    #expect(manifest != nil)
    #expect(problems.map(\.code) == [.manifestUnknownKey])
  }

  @Test(arguments: [("1.2.3", "1.2.4"), ("0.9", "0.10"), ("1", "1.0.1"), ("1.9.9-beta", "2")])
  func `versions are compared by their numbers`(older: String, newer: String) throws {
    #expect(try #require(Version(older)) < #require(Version(newer)))
  }

  @Test(arguments: ["", "1.", "1.2.3.4", "a", "+1", "-1", "1..2", "99999999999"])
  func `what is no version is told`(text: String) { #expect(Version(text) == nil) }
}
