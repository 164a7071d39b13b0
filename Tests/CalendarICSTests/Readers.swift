// SPDX-License-Identifier: Apache-2.0
// Foundation reads what other programs print: a second reader of what was written.
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

/// An event as PyPI icalendar reads it.
struct ReadEvent: Decodable, Equatable {
  var calendar: String
  var uid: String
  var title: String
  var start: String
  var end: String?
  var sequence: Int
  var changed: String?
  var stamp: String
  var notes: String?
  var location: String?
  var key: String?
  var alarms: Int
  var color: String

  static func read(_ paths: [String]) throws -> [ReadEvent] {
    guard !paths.isEmpty else { return [] }
    let script = Repository.path("Tests/Fixtures/read_calendar.py")
    let result = try Command.run([Repository.python, script] + paths)
    guard result.status == 0 else { throw Failed(words: result.output) }
    return try JSONDecoder().decode([ReadEvent].self, from: Data(result.output.utf8))
  }

  static func read(_ bytes: [UInt8]) throws -> [ReadEvent] {
    let path = TemporaryFolder.shared.path("\(UUID().uuidString).ics")
    try File.write(bytes, to: path)
    return try read([path])
  }
}

struct Failed: Error { let words: String }

/// An event as a template writes it.
struct Listed: Encodable {
  var key = "run-1"
  var title = "Run"
  var start = "2026-03-28T10:00:00+01:00"
  var end = "2026-03-28T11:00:00+01:00"
  var allDay: Bool?
  var notes: String?
  var location: String?

  static func day(_ key: String, _ first: String, _ last: String) -> Listed {
    Listed(key: key, title: "Day", start: first, end: last, allDay: true)
  }
}

func partBytes(_ events: [Listed]) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return Array(try encoder.encode(["events": events]))
}

func part(_ events: [Listed], created: Int64 = 1_796_036_400_000) throws -> FakeDelivery {
  var delivery = FakeDelivery(try partBytes(events))
  delivery.created = created
  return delivery
}

/// A part as it is.
func event(_ members: String) -> FakeDelivery { FakeDelivery(#"{"events": [{\#(members)}]}"#) }

extension FakeHost {
  func deliver(_ delivery: FakeDelivery) -> Verdict { deliver(CalendarTarget.self, delivery) }
}

/// Checks what must hold for every iCalendar text of ours.
func expectWellFormed(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
  var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  #expect(lines.popLast()?.isEmpty == true, "the last line has no end", sourceLocation: sourceLocation)
  for line in lines {
    #expect(line.last == UInt8(ascii: "\r"), "a bare LF", sourceLocation: sourceLocation)
    #expect(line.count <= 76, "more than 75 octets", sourceLocation: sourceLocation)
    #expect(
      String(validating: line, as: UTF8.self) != nil, "a character is split", sourceLocation: sourceLocation)
    #expect(
      !line.dropLast().contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }, "a control character",
      sourceLocation: sourceLocation)
  }
  let text = String(decoding: bytes, as: UTF8.self)
  #expect(!text.contains("TZID") && !text.contains("VTIMEZONE"), sourceLocation: sourceLocation)
}
