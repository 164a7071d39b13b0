// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import Testing

@Suite struct `Trees and numbers` {
  @Test func `equality ignores places, the order of members and how a number is written`() throws {
    let left = try JSONTree.parse(Array(#"{"a": 1, "b": [1.50, "x"]}"#.utf8))
    let right = try JSONTree.parse(Array(#"{"b":[1.5,"x"],"a":1.0}"#.utf8))
    #expect(left == right)
    #expect(try left != JSONTree.parse(Array(#"{"b":["x",1.5],"a":1}"#.utf8)))
    #expect(try left != JSONTree.parse(Array(#"{"a":1}"#.utf8)))
  }

  @Test func `numbers beyond doubles keep their difference`() {
    #expect(JSONNumber(text: "1180591620717411303424") != JSONNumber(text: "1180591620717411303425"))
    #expect(JSONNumber(text: "9223372036854775807") != JSONNumber(text: "9223372036854775808"))
  }

  @Test(
    arguments: [
      ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("9223372036854775808", nil), ("1e3", 1000),
      ("1.0", 1), ("1.5", nil), ("-0", 0), ("1e300", nil), ("9007199254740993.0", 9_007_199_254_740_992),
    ] as [(String, Int64?)])
  func `a whole number is told from others`(text: String, integer: Int64?) {
    #expect(JSONNumber(text: text).integer == integer)
  }

  @Test func `members and elements are found, and absent ones are nil`() throws {
    let node = try JSONTree.parse(Array(#"{"a":[true,null,2.5,"t",7]}"#.utf8))
    #expect(node["a"]?[0]?.bool == true)
    #expect(node["a"]?[1]?.isNull == true)
    #expect(node["a"]?[2]?.double == 2.5)
    #expect(node["a"]?[3]?.string == "t")
    #expect(node["a"]?[4]?.integer == 7)
    #expect(node["a"]?[5] == nil)
    #expect(node["a"]?[-1] == nil)
    #expect(node["b"] == nil)
    #expect(node["a"]?.array?.map(\.typeName) == ["boolean", "null", "number", "string", "integer"])
  }
}

@Suite struct `Writing JSON` {
  private func sample(_ style: JSONWriter.Style) -> String {
    var writer = JSONWriter(style: style)
    writer.beginObject()
    writer.name("a")
    writer.beginArray()
    writer.value(Int64.min)
    writer.value(UInt64.max)
    writer.value(0.1)
    writer.value(Double.nan)
    writer.endArray()
    writer.name("b")
    writer.beginObject()
    writer.endObject()
    writer.name("c")
    writer.value("x\"\\\u{1}é")
    writer.name("d")
    writer.null()
    writer.name("e")
    writer.value(true)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func `compact has no blanks`() {
    #expect(
      sample(.compact)
        == #"{"a":[-9223372036854775808,18446744073709551615,0.1,null],"b":{},"c":"x\"\\\u0001é","d":null,"e":true}"#)
  }

  @Test func `pretty has one entry a line`() {
    #expect(
      sample(.pretty) == #"""
        {
          "a": [
            -9223372036854775808,
            18446744073709551615,
            0.1,
            null
          ],
          "b": {},
          "c": "x\"\\\u0001é",
          "d": null,
          "e": true
        }

        """#)
  }

  @Test func `taking what was written and going on gives the same text`() {
    var whole: [UInt8] = []
    var writer = JSONWriter(style: .pretty)
    writer.beginArray()
    for number in 0..<3 {
      writer.value(number)
      whole += writer.take()
    }
    writer.endArray()
    whole += writer.take()
    #expect(String(decoding: whole, as: UTF8.self) == "[\n  0,\n  1,\n  2\n]\n")
  }
}

@Suite struct `Lines and columns` {
  @Test(arguments: [
    (0, 1, 1), (2, 1, 3), (3, 1, 3), (4, 2, 1), (6, 2, 2), (9, 2, 3), (11, 3, 1), (12, 3, 2), (99, 3, 2), (-1, 1, 1),
  ])
  func `an offset has its line and column`(offset: Int, line: Int, column: Int) {
    // a é LF, Euro sign (3 bytes) … : columns count characters, not bytes.
    let index = LineIndex(Array("aé\né€\r\nx".utf8))
    let position = index.position(of: offset)
    #expect(position.line == line)
    #expect(position.column == column)
  }

  @Test func `a line comes without its end`() {
    let index = LineIndex(Array("one\r\n\ntwo".utf8))
    #expect((0...4).map(index.line) == ["", "one", "", "two", ""])
    #expect(index.lineCount == 3)
  }
}
