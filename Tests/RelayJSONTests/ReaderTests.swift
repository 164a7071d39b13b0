// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import Testing

@Suite struct `Reading JSON` {
  @Test(arguments: [
    ("null", "null"), (" true ", "true"), ("\t[\r\n]", "[]"), ("{ }", "{}"), ("-0", "-0"), ("0.5e-3", "0.5e-3"),
    ("1E+2", "1E+2"), ("[1,\"a\",[],{\"b\":null}]", "[1,\"a\",[],{\"b\":null}]"),
    ("\"\\u00e9\\ud83d\\ude00\\/\\b\"", "\"é😀/\\u0008\""), ("\"\\\"\\\\\\f\\n\\r\\t\"", "\"\\\"\\\\\\u000c\\n\\r\\t\""),
    ("\"\u{7F}\u{2028}\"", "\"\\u007f\u{2028}\""), ("12345678901234567890123", "12345678901234567890123"),
    ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"), ("1e-999", "1e-999"), ("\"\\u0000\"", "\"\\u0000\""),
  ])
  func `a valid text reads as what it says`(text: String, compact: String) throws {
    #expect(try JSONTree.parse(Array(text.utf8)).text() == compact)
  }

  @Test(
    arguments: [
      ("", .empty, 0), (" \n", .empty, 2), ("[1,]", .trailingComma, 2), ("{\"a\":1 , }", .trailingComma, 7),
      ("[,1]", .unexpectedCharacter, 1), ("[1,,2]", .unexpectedComma, 3), ("[1 2]", .missingComma, 2),
      ("{\"a\":1\n\"b\":2}", .missingComma, 6), ("{\"a\" 1}", .missingColon, 4), ("{\"a\":}", .missingValue, 5),
      ("{1:2}", .missingName, 1), ("{a:2}", .unquotedName, 1), ("['a']", .singleQuotes, 1),
      ("[1}", .mismatchedBracket, 2),
      ("{\"a\":1]", .mismatchedBracket, 6), ("[1", .unexpectedEnd, 2), ("{\"a\"", .unexpectedEnd, 4),
      ("{\"a\":", .unexpectedEnd, 5), ("1 2", .trailingContent, 2), ("[] // x", .comment, 3), ("/* x", .comment, 0),
      ("/", .unexpectedCharacter, 0), ("\"abc", .unterminatedString, 0), ("\"abc\\", .unterminatedString, 4),
      ("\"a\nb\"", .controlCharacter, 2), ("\"a\tb\"", .controlCharacter, 2), ("\"\\x\"", .badEscape, 1),
      ("\"\\u12g4\"", .badEscape, 1), ("\"\\u12", .badEscape, 1), ("\"\\ud800\"", .loneSurrogate, 1),
      ("\"\\udc00\"", .loneSurrogate, 1), ("\"\\ud800\\ud800\"", .loneSurrogate, 1),
      ("\"\\ud800\\n\"", .loneSurrogate, 1),
      ("01", .badNumber, 0), ("+1", .badNumber, 0), (".5", .badNumber, 0), ("1.", .badNumber, 0), ("1e", .badNumber, 0),
      ("-", .badNumber, 0), ("1.e3", .badNumber, 0), ("0x10", .badNumber, 0), ("1e999", .numberOutOfRange, 0),
      ("-1e309", .numberOutOfRange, 0), ("NaN", .badLiteral, 0), ("True", .badLiteral, 0), ("nul", .badLiteral, 0),
      ("[1 @]", .unexpectedCharacter, 3), ("[:]", .unexpectedCharacter, 1), ("]", .unexpectedCharacter, 0),
      ("\u{FEFF}{}", .byteOrderMark, 0), ("{\"a\":1 2}", .unexpectedCharacter, 7),
    ] as [(String, JSONError.Kind, Int)])
  func `an invalid text is refused with its place`(text: String, kind: JSONError.Kind, offset: Int) {
    #expect(throws: JSONError(kind, at: offset)) { try JSONTree.parse(Array(text.utf8)) }
  }

  @Test(
    arguments: [
      ([0xFF], 1), ([0x61, 0xC3], 2), ([0xC0, 0x80], 1), ([0xED, 0xA0, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1),
      ([0xC3, 0xA9, 0xE2, 0x82], 3), ([0xE2, 0x82, 0x41], 1), ([0xF0, 0x9F, 0x98], 1),
    ] as [([UInt8], Int)])
  func `bytes that are not UTF-8 are refused at the first wrong one`(bytes: [UInt8], offset: Int) {
    #expect(throws: JSONError(.invalidUTF8, at: offset)) { try JSONTree.parse([0x22] + bytes + [0x22]) }
  }

  @Test func `ten thousand nested lists are refused, the allowed depth is not`() throws {
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 10_000)
    #expect(throws: JSONError(.tooDeep, at: 128)) { try JSONTree.parse(deep) }
    #expect(throws: JSONError(.tooDeep, at: 512)) { try JSONTree.parse(deep, limits: JSONLimits(depth: 1_000_000)) }
    let allowed = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
    #expect(try JSONTree.parse(Array(allowed.utf8)).text() == allowed)
  }

  @Test func `size and length limits hold`() {
    let small = JSONLimits(bytes: 4)
    #expect(throws: JSONError(.tooLarge, at: 0)) { try JSONTree.parse(Array("[1,2]".utf8), limits: small) }
    let long = [UInt8](repeating: UInt8(ascii: "1"), count: 1001)
    #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSONTree.parse(long) }
    let big = [UInt8](repeating: UInt8(ascii: "9"), count: 400)
    #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSONTree.parse(big) }
  }

  @Test func `ranges are the bytes of each value and name`() throws {
    let text = Array(" {\"é\" : [1, true]} ".utf8)
    let node = try JSONTree.parse(text)
    #expect(node.range == 1..<19)
    let member = try #require(node.object?.first)
    #expect(String(decoding: text[member.nameRange], as: UTF8.self) == "\"é\"")
    #expect(String(decoding: text[member.node.range], as: UTF8.self) == "[1, true]")
    #expect(member.node[1]?.range == 13..<17)
  }

  @Test func `the pull reader gives tokens and then nil`() throws {
    var reader = JSONReader(Array("{\"a\":[1,null]}".utf8))
    var tokens: [JSONToken] = []
    while let token = try reader.next() { tokens.append(token) }
    #expect(
      tokens == [
        .beginObject, .name("a"), .beginArray, .number(JSONNumber(1)), .null, .endArray, .endObject,
      ])
    #expect(try reader.next() == nil)
  }

  @Test func `any mutation of a text gives a value or an error, and a value reads back as itself`() throws {
    let seed = Array("{\"a\": [1.5e3, -0, \"x\\u00e9\\n\", true, null], \"b\": {\"ü😀\": [[], {}]}} ".utf8)
    var random = SplitMix(state: 1)
    var accepted = 0
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(seed.randomElement(using: &random) ?? 0, at: place)
        default: bytes.removeSubrange(place..<bytes.count)
        }
        if bytes.isEmpty { break }
      }
      let strict = try? JSONTree.parse(bytes)
      let (node, problems) = JSONTree.parseCollecting(bytes)
      #expect((strict != nil) == problems.isEmpty)
      guard let strict else { continue }
      accepted += 1
      #expect(node == strict)
      #expect(try JSONTree.parse(strict.bytes()) == strict)
      #expect(try JSONTree.parse(strict.bytes(.pretty)) == strict)
    }
    #expect(accepted > 100)
  }
}

/// A small generator, so that a failing test fails again.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
