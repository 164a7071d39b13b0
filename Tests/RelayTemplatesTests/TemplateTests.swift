// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTemplates
import Testing

@Suite struct `Templates in settings` {
  private let context = TemplateContext(
    fileName: "a b/ä.tar.gz", artifactID: "0190", partIndex: 2, partCount: 3, pipelineID: "scans",
    pipelineName: "Scans",
    now: 1_700_000_000_000, created: -1, zoneOffset: 3600)

  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("{{ file.name }}", "a b/ä.tar.gz"), ("{{file.stem}}!", "a b/ä.tar!"),
    ("x{{\n file.extension\t}}y", "xgzy"), ("{{ part.index }}/{{ part.count }}", "2/3"),
    ("{{ artifact.id }}-{{ pipeline.id }}-{{ pipeline.name }}", "0190-scans-Scans"),
    ("{{ now | date('%Y-%m-%d %H:%M:%S %z') }}", "2023-11-14 23:13:20 +0100"),
    ("{{created|date(\"%F %T\")}}", "1970-01-01 00:59:59"), ("{{ '{{' }} } }} {", "{{ } }} {"),
    ("{{ now | date('100%%') }}", "100%"),
  ])
  func `a template renders`(text: String, expected: String) throws {
    #expect(try TemplateEngine.parse(text).render(context) == expected)
  }

  @Test(
    arguments: [
      ("{{ file.nam }}", .unknownName("file.nam", suggestion: "file.name"), 1, 4),
      ("a\n {{ sample }}", .unknownName("sample", suggestion: nil), 2, 5), ("{{ }}", .emptyExpression, 1, 4),
      ("ä{{ file.name", .unclosedExpression, 1, 2), ("{{ file.name }", .unexpected("}"), 1, 14),
      ("{{ file.name + 1 }}", .unexpected("+"), 1, 14), ("{{ now }}", .needsDate("now"), 1, 4),
      ("{{ file.name | date('%Y') }}", .noDate("file.name"), 1, 4),
      ("{{ file.name | upper }}", .unknownFilter("upper"), 1, 16), ("{{ now | date('%Q') }}", .badFormat("%Q"), 1, 15),
      ("{{ now | date('%') }}", .badFormat("%"), 1, 15), ("{{ now | date }}", .unexpected("}"), 1, 15),
      ("{{ now | date(%Y) }}", .unexpected("%"), 1, 15), ("{{ now | date('%Y' }}", .unexpected("}"), 1, 20),
      ("{{ now | date('%Y", .unclosedExpression, 1, 1), ("x {% if a %}", .statement, 1, 3),
      ("{# c #}", .statement, 1, 1), ("{{ 'a\\'' }}", .unexpected("\\"), 1, 6), ("{{ 3 }}", .unexpected("3"), 1, 4),
      ("{{- file.name }}", .unexpected("-"), 1, 3),
    ] as [(String, TemplateError.Kind, Int, Int)])
  func `what is not known is an error with its place`(text: String, kind: TemplateError.Kind, line: Int, column: Int) {
    let error = TemplateError(kind, line: line, column: column)
    #expect(throws: error) { try TemplateEngine.parse(text) }
    #expect(!error.message.isEmpty)
  }

  @Test func `a value in a URL stays one part of it`() throws {
    let template = try TemplateEngine.parse("https://h/{{ file.name }}?x={{ pipeline.id }}")
    #expect(try template.render(context, escaping: .urlComponent) == "https://h/a%20b%2F%C3%A4.tar.gz?x=scans")
    var dots = context
    dots.fileName = ".."
    #expect(throws: TemplateError(.notAURLPart(".."), line: 1, column: 14)) {
      try template.render(dots, escaping: .urlComponent)
    }
  }

  @Test(arguments: [
    ("https://h/{{ file.name }}", false), ("https://h?{{ file.name }}", false), ("https://h", false),
    ("https://h{{ file.name }}/", true), ("{{ file.name }}", true), ("https:{{ file.name }}://h/", true),
  ])
  func `a URL that leaves its host to a value is told`(text: String, isOpen: Bool) throws {
    #expect(try TemplateEngine.parse(text).leavesAuthorityOpen == isOpen)
  }

  @Test func `dates agree with the C library over four hundred years`() throws {
    let codes = [
      "%Y", "%m", "%d", "%H", "%M", "%S", "%y", "%j", "%b", "%B", "%a", "%A", "%I", "%p", "%u", "%w", "%G", "%V", "%F",
      "%T",
    ]
    let format = codes.joined(separator: "|")
    let template = try TemplateEngine.parse("{{ now | date('\(format)') }}")
    var context = context
    context.zoneOffset = 0
    var seconds: Int64 = -7_000_000_000
    while seconds < 7_000_000_000 {
      context.now = seconds * 1000
      var time = time_t(seconds)
      var fields = tm()
      gmtime_r(&time, &fields)
      var room = [CChar](repeating: 0, count: 512)
      let length = strftime(&room, room.count, format, &fields)
      let expected = String(decoding: room.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      try #require(try template.render(context) == expected)
      // A prime near nineteen days, so that all hours, days and months come up.
      seconds += 1_640_531
    }
  }

  @Test(arguments: [Int64.max, .min, 253_402_300_800_000, -62_135_596_800_001])
  func `a time outside of the calendar is an error`(milliseconds: Int64) throws {
    var context = context
    context.now = milliseconds
    context.zoneOffset = 0
    let template = try TemplateEngine.parse("{{ now | date('%Y') }}")
    #expect(throws: TemplateError(.dateOutOfRange, line: 1, column: 4)) { try template.render(context) }
  }

  @Test func `leading zeros can be left out`() throws {
    var context = context
    context.now = 97_445_000
    context.zoneOffset = -19_800
    #expect(try TemplateEngine.parse("{{ now | date('%-d.%-m. %-H %z') }}").render(context) == "1.1. 21 -0530")
  }
}
