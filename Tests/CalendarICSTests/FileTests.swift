// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

/// A folder of one test's own with the file in it.
final class FilePlace {
  let folder: String
  var path: String { "\(folder)/health.ics" }

  init() throws {
    folder = TemporaryFolder.shared.path("calendar-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func host(_ more: [(String, FakeValue)] = []) -> FakeHost {
    FakeHost(settings: .object([("file", .text(path))] + more))
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

  func bytes() throws -> [UInt8] { try File.bytes(of: path) }

  func events() throws -> [ReadEvent] { try ReadEvent.read([path]).sorted { ($0.key ?? "") < ($1.key ?? "") } }
}

@Suite struct FileTests {
  @Test func `the file shows all keys delivered so far, each as it was delivered last`() throws {
    let place = try FilePlace()
    let host = place.host([("calendarName", "Health, mine")])
    #expect(
      host.deliver(try part([Listed(notes: "easy", location: "Park"), Listed(key: "run-2")])).outcome == .delivered)
    let second = host.deliver(
      try part([Listed(key: "run-2", title: "Long run"), Listed(key: "run-3")], created: 1_796_040_000_000))
    #expect(second.message == "events: 1 made, 1 changed")
    #expect(second.receipt == place.path)
    let events = try place.events()
    #expect(events.map(\.key) == ["run-1", "run-2", "run-3"])
    #expect(events.map(\.title) == ["Run", "Long run", "Run"])
    #expect(events.map(\.sequence) == [0, 1, 0])
    #expect(events.allSatisfy { $0.calendar == "Health, mine" })
    #expect(events[0].start == "2026-03-28T09:00:00Z")
    #expect(events[0].end == "2026-03-28T10:00:00Z")
    #expect(events[0].notes == "easy")
    #expect(events[0].location == "Park")
    #expect(events[0].stamp == "2026-11-30T11:00:00Z")
    #expect(events[1].changed == "2026-11-30T12:00:00Z")
    expectWellFormed(try place.bytes())
    let text = String(decoding: try place.bytes(), as: UTF8.self)
    for line in [
      "METHOD:PUBLISH", "REFRESH-INTERVAL;VALUE=DURATION:PT1H", "X-PUBLISHED-TTL:PT1H", "NAME:Health\\, mine",
    ] {
      #expect(text.contains("\(line)\r\n"))
    }
    #expect(place.names == ["health.ics"])
  }

  @Test func `the same again neither changes a byte nor writes the file`() throws {
    let place = try FilePlace()
    let host = place.host()
    let events = [Listed(), .day("d", "2026-03-28", "2026-03-28")]
    #expect(host.deliver(try part(events)).outcome == .delivered)
    let before = try place.bytes()
    let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
    let verdict = host.deliver(try part(events, created: 1_796_126_400_000))
    #expect(verdict.message == "events: 2 unchanged")
    #expect(verdict.bytesSent == 0)
    #expect(try place.bytes() == before)
    let after = try FileManager.default.attributesOfItem(atPath: place.path)
    #expect(after[.systemFileNumber] as? Int == attributes[.systemFileNumber] as? Int)
  }

  @Test func `a lost, cut or spoiled file is written again from the state`() throws {
    let place = try FilePlace()
    let host = place.host()
    #expect(host.deliver(try part([Listed(), Listed(key: "run-2")])).outcome == .delivered)
    let whole = try place.bytes()
    #expect(unlink(place.path) == 0)
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    #expect(try place.bytes() == whole)
    try File.write(whole.prefix(400), to: place.path)
    #expect(host.deliver(try part([])).outcome == .delivered)
    #expect(try place.bytes() == whole)
    try File.write(whole + [0x20], to: place.path)
    #expect(host.deliver(try part([])).outcome == .delivered)
    #expect(try place.bytes() == whole)
  }

  @Test func `all-day events end on the day after their last, clock changes or not`() throws {
    let place = try FilePlace()
    let days = [
      Listed.day("a", "2026-01-05", "2026-01-05"), .day("b", "2026-02-27", "2026-03-01"),
      .day("c", "2026-03-29", "2026-03-29"), .day("d", "2026-12-31", "2026-12-31"),
      .day("e", "2024-02-28", "2024-02-28"),
    ]
    #expect(place.host().deliver(try part(days)).outcome == .delivered)
    let events = try place.events()
    #expect(events.map(\.start) == ["2026-01-05", "2026-02-27", "2026-03-29", "2026-12-31", "2024-02-28"])
    #expect(events.map(\.end) == ["2026-01-06", "2026-03-02", "2026-03-30", "2027-01-01", "2024-02-29"])
  }

  @Test func `times over a clock change stay the instants that they are`() throws {
    let place = try FilePlace()
    let night = Listed(start: "2026-03-29T01:30:00+01:00", end: "2026-03-29T03:30:00+02:00")
    #expect(place.host().deliver(try part([night])).outcome == .delivered)
    let event = try #require(try place.events().first)
    #expect(event.start == "2026-03-29T00:30:00Z")
    #expect(event.end == "2026-03-29T01:30:00Z")
  }

  @Test func `an event without length has no end`() throws {
    let place = try FilePlace()
    let moment = Listed(start: "2026-03-28T10:00:00Z", end: "2026-03-28T11:00:00+01:00")
    #expect(place.host().deliver(try part([moment])).outcome == .delivered)
    #expect(try place.events().map(\.end) == [nil])
    #expect(!String(decoding: try place.bytes(), as: UTF8.self).contains("DTEND"))
  }

  @Test func `texts come out as they went in, whatever is in them`() throws {
    let place = try FilePlace()
    let emoji = String(repeating: "👩‍👩‍👧‍👦", count: 200)
    let texts = [
      emoji, "a;b,c\\d\\n \"q\" : =", String(repeating: "word ", count: 60), String(repeating: " ", count: 200) + "x",
      "é\u{301}ü 漢字 \u{1F3F3}\u{FE0F}\u{200D}\u{1F308}", "", "BEGIN:VEVENT", String(repeating: "x", count: 500),
    ]
    let events = texts.enumerated().map {
      Listed(key: "k\($0.offset)", title: $0.element, notes: $0.element + "\nEND:VEVENT\r\nz", location: $0.element)
    }
    #expect(place.host().deliver(try part(events)).outcome == .delivered)
    expectWellFormed(try place.bytes())
    let read = try place.events()
    #expect(read.map(\.title) == texts)
    #expect(read.map(\.notes) == texts.map { $0 + "\nEND:VEVENT\nz" })
    #expect(read.map(\.location) == texts)
  }

  @Test func `no line ends or goes on with a space where that can be`() throws {
    var lines = ContentLines()
    lines.add("SUMMARY:" + String(repeating: "three words and ", count: 40))
    let written = String(decoding: lines.take(), as: UTF8.self).split(separator: "\r\n")
    #expect(written.count > 5)
    for line in written.dropLast() { #expect(!line.hasSuffix(" ")) }
    for line in written.dropFirst() { #expect(!line.hasPrefix("  ")) }
  }

  @Test func `line breaks and control characters in titles and keys become harmless`() throws {
    let place = try FilePlace()
    let host = place.host([("calendarName", "a\nMETHOD:X")])
    let odd = Listed(key: "k\r\nUID:x\u{0}", title: "a\r\nb\u{0}\u{1b}[31m\tc\u{85}d", notes: "1\r2\r\n3\n4\u{7}")
    #expect(host.deliver(try part([odd])).outcome == .delivered)
    expectWellFormed(try place.bytes())
    let event = try #require(try place.events().first)
    #expect(event.title == "a b[31m cd")
    #expect(event.notes == "1\n2\n3\n4")
    #expect(event.calendar == "a METHOD:X")
    #expect(event.key == "k UID:x")
  }

  @Test func `two keys and two pipelines never share a UID, the same key always does`() {
    let uids = ["a", "b", "a ", "A"].flatMap { key in
      ["p", "q"].map { EventIdentity(pipeline: $0, key: key).uid(revision: 1) }
    }
    #expect(Set(uids).count == uids.count)
    let uid = EventIdentity(pipeline: "steps", key: "run-1").uid(revision: 1)
    #expect(uid == EventIdentity(pipeline: "steps", key: "run-1").uid(revision: 1))
    #expect(uid.hasSuffix("@steps"))
    #expect(uid.utf8.count == 38)
    #expect(EventIdentity(pipeline: "steps", key: "run-1").uid(revision: 2).contains("-r2@"))
  }

  @Test func `a file that this pipeline did not write is left alone`() throws {
    let place = try FilePlace()
    let foreign = Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n".utf8)
    try File.write(foreign, to: place.path)
    let verdict = place.host().deliver(try part([Listed()]))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.message.contains("was not written by this pipeline"))
    #expect(try place.bytes() == foreign)
    #expect(place.names == ["health.ics"])

    let other = try FilePlace()
    #expect(other.host().deliver(try part([Listed()])).outcome == .delivered)
    var delivery = try part([Listed()])
    delivery.pipelineID = "another"
    #expect(other.host().deliver(delivery).outcome == .needsAttention)
  }

  @Test func `an empty file that was made for us is taken`() throws {
    let place = try FilePlace()
    try File.write([], to: place.path)
    #expect(place.host().deliver(try part([Listed()])).outcome == .delivered)
    #expect(try place.events().count == 1)
  }

  @Test func `a test writes nothing and shows that the folder can be written to`() throws {
    let place = try FilePlace()
    var test = FakeDelivery("")
    test.isTest = true
    #expect(place.host().deliver(test).outcome == .delivered)
    #expect(place.names.isEmpty)
    var listed = try part([Listed()])
    listed.isTest = true
    let host = place.host()
    #expect(host.deliver(listed).outcome == .delivered)
    #expect(host.pipelineState.isEmpty)
    #expect(place.names.isEmpty)
  }

  @Test func `a check needs the folder, and a file of ours or none`() throws {
    let place = try FilePlace()
    #expect(try place.host().open(CalendarTarget.self).check().outcome == .delivered)
    #expect(place.names.isEmpty)
    let missing = FakeHost(settings: ["file": .text("\(place.folder)/missing/health.ics")])
    #expect(try missing.open(CalendarTarget.self).check().reason == .notFound)
    #expect(missing.deliver(try part([Listed()])).outcome == .needsAttention)
    #expect(place.names.isEmpty)
    try File.write(Array("mine".utf8), to: place.path)
    #expect(try place.host().open(CalendarTarget.self).check().outcome == .needsAttention)
  }
}
