// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import Testing

@Suite struct `Diagnostics` {
  private func text(of source: String, at needle: String, masking secret: String? = nil) throws -> String {
    let bytes = Array(source.utf8)
    var list = DiagnosticList(file: "pipelines.json", bytes: bytes)
    let range = try #require(source.utf8.firstRange(of: needle.utf8))
    let start = source.utf8.distance(from: source.startIndex, to: range.lowerBound)
    list.add(.configUnknownKey, "unknown key", hint: "did you mean it?", at: start..<start + needle.utf8.count)
    if let secret, let found = source.utf8.firstRange(of: secret.utf8) {
      let from = source.utf8.distance(from: source.startIndex, to: found.lowerBound)
      list.mask(from..<from + secret.utf8.count)
    }
    return list.sorted().map(\.text).joined()
  }

  @Test func `a problem shows its line with a caret`() throws {
    #expect(
      try text(of: "{\n  \"endpont\": 1\n}", at: "\"endpont\"") == """
        pipelines.json:2:3: error: unknown key (did you mean it?) [config.unknown-key]
            "endpont": 1
            ^

        """)
  }

  @Test func `the caret stands right behind tabs and wide characters`() throws {
    #expect(try text(of: "\t\"é日本\u{301}\": X", at: "X").split(separator: "\n").last == "  \t         ^")
  }

  @Test func `a secret in the line is blanked and the column stays`() throws {
    let shown = try text(of: #"{"password": "geheimß", "x": 1}"#, at: "\"x\"", masking: "\"geheimß\"")
    #expect(
      shown == """
        pipelines.json:1:25: error: unknown key (did you mean it?) [config.unknown-key]
          {"password": *********, "x": 1}
                                  ^

        """)
  }

  @Test func `of a long line the part around the caret is shown, without control characters`() throws {
    let source = String(repeating: "a", count: 5000) + "\u{1B}X" + String(repeating: "b", count: 5000)
    let lines = try text(of: source, at: "X").split(separator: "\n")
    #expect(lines[1].unicodeScalars.count == 2 + 162)
    #expect(lines[1].contains("a\u{FFFD}Xb"))
    #expect(Array(lines[1])[Array(lines[2]).count - 1] == "X")
  }

  @Test func `problems come in the order of the file and as JSON`() {
    var list = DiagnosticList(file: "f", bytes: Array("ab\ncd".utf8))
    list.add(.configBadID, "second", at: 4..<5)
    list.add(.configHealthNotRun, "first", at: 1..<2)
    list.add(.configMissingKey, "whole", hint: "do", at: nil)
    #expect(list.sorted().map(\.message) == ["whole", "first", "second"])
    var writer = JSONWriter()
    writer.beginArray()
    for diagnostic in list.sorted().suffix(2) { diagnostic.write(to: &writer) }
    writer.endArray()
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"[{"file":"f","line":1,"column":2,"severity":"warning","code":"config.health-not-run","#
        + #""message":"first","hint":null},"#
        + #"{"file":"f","line":2,"column":2,"severity":"error","code":"config.bad-id","message":"second","hint":null}]"#
    )
  }

  @Test func `nothing that is quoted steers a terminal`() {
    let text = "{\"a\u{9B}2J\u{202E}\": 1}"
    var list = DiagnosticList(file: "f\u{1B}]0;x\u{7}", bytes: Array(text.utf8))
    list.add(.configUnknownKey, "unknown \"\u{1B}[2J\u{85}\u{2028}\"", hint: "not \u{200F}\n", at: 1..<9)
    let lines = list.sorted()[0].text.split(separator: "\n")
    #expect(lines.count == 3)
    for scalar in lines.joined().unicodeScalars {
      #expect(!PrintableText.isControl(scalar), "U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test(arguments: [
    ("endpont", "endpoint"), ("ulr", "url"), ("Method", "method"), ("headres", "headers"), ("zzz", nil), ("", nil),
    ("x", nil),
  ])
  func `a slip finds its word`(word: String, expected: String?) {
    #expect(Suggestion.nearest(to: word, among: ["url", "method", "endpoint", "headers"]) == expected)
  }
}

@Suite struct `The registry of codes` {
  @Test func `every syntax problem has a code`() {
    for kind in JSONError.Kind.allCases { #expect(DiagnosticCode(kind) != nil) }
  }

  @Test func `a code is area and kind, is explained and is never reused`() {
    for code in DiagnosticCode.allCases {
      let parts = code.rawValue.split(separator: ".", omittingEmptySubsequences: false)
      let letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
      #expect(parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(letters.contains) })
      #expect(!code.meaning.isEmpty, "\(code.rawValue)")
      #expect(!DiagnosticCode.retired.contains(code.rawValue))
    }
  }

  @Test func `an unknown target stops only its own pipeline`() {
    #expect(!DiagnosticCode.configUnknownTarget.blocksLoading)
    #expect(DiagnosticCode.configUnknownTarget.severity == .error)
    #expect(DiagnosticCode.configUnknownKey.blocksLoading)
    #expect(!DiagnosticCode.secretShort.blocksLoading)
  }
}
