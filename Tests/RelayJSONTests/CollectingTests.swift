// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import Testing

@Suite struct `Collecting syntax problems` {
  @Test func `one pass finds them all and still yields what was meant`() throws {
    let text = """
      {
        // a comment
        "a": [1, 2,],
        'b': 'it\\'s',
        "c": 01 /* another */,
        d: True
        "e": "open,
        "f" = [1 2],,
        "g": "\\q\\ud800",
      }
      """
    let (node, problems) = JSONTree.parseCollecting(Array(text.utf8))
    #expect(
      problems.map(\.kind) == [
        .comment, .trailingComma, .singleQuotes, .singleQuotes, .badNumber, .comment, .unquotedName, .badLiteral,
        .missingComma, .unterminatedString, .missingComma, .missingColon, .missingComma, .unexpectedComma, .badEscape,
        .loneSurrogate, .trailingComma,
      ])
    #expect(problems.map(\.offset) == problems.map(\.offset).sorted())
    #expect(
      try #require(node).text()
        == #"{"a":[1,2],"b":"it's","c":null,"d":null,"e":"open,","f":[1,2],"g":"q\#u{FFFD}"}"#)
  }

  @Test func `what cannot be read past comes last and leaves no tree`() {
    let (node, problems) = JSONTree.parseCollecting(Array("[1,, 2 }".utf8))
    #expect(node == nil)
    #expect(problems == [JSONError(.unexpectedComma, at: 3), JSONError(.mismatchedBracket, at: 7)])
  }

  @Test func `it gives up after the hundred and first problem`() {
    let text = "[" + String(repeating: "1 ", count: 1000) + "]"
    #expect(JSONTree.parseCollecting(Array(text.utf8)).problems.count == 101)
  }

  @Test func `repeated names are told with both places`() throws {
    let node = try JSONTree.parse(Array(#"{"a":1,"b":[{"c":1,"c":2}],"a":3}"#.utf8))
    let duplicates = JSONTree.duplicateNames(in: node)
    #expect(duplicates.map(\.name) == ["c", "a"])
    #expect(duplicates.map(\.range) == [19..<22, 27..<30])
    #expect(duplicates.map(\.firstRange) == [13..<16, 1..<4])
  }

  @Test func `every kind has its own name and words`() {
    let kinds = JSONError.Kind.allCases
    #expect(Set(kinds.map(\.message)).count == kinds.count)
    #expect(kinds.allSatisfy { !$0.hint.isEmpty })
  }
}
