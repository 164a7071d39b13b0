// SPDX-License-Identifier: Apache-2.0
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct InputTests {
  static let good = #""key": "a", "title": "t", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z""#

  /// Delivers into a folder that must stay empty.
  static func refusal(_ delivery: FakeDelivery) throws -> Verdict {
    let place = try FilePlace()
    let verdict = place.host().deliver(delivery)
    #expect(place.names.isEmpty)
    return verdict
  }

  @Test(arguments: [
    ("", "line 1, column 1"), ("not JSON", "isn't JSON"), ("[]", "list of events"), ("{}", "list of events"),
    (#"{"events": {}}"#, "list of events"), (#"{"events": [1]}"#, "event 1 isn't an object"),
    ("{\"events\": [\n{},]}", "\"key\" is missing"), (#"{"events": []} x"#, "isn't JSON"),
    (#"{"events": [], "events": []}"#, "\"events\" twice"), ("{\"events\": [\n", "line 2"),
    (#"{"events": [{\#(good)}, {\#(good)}]}"#, #"event 2 (key "a"): event 1 has the same key"#),
  ])
  func `a part that isn't a list of events is refused, and the place told`(text: String, words: String) throws {
    let verdict = try Self.refusal(FakeDelivery(text))
    #expect(verdict.outcome == .refused)
    #expect(verdict.reason == .content)
    #expect(verdict.message.contains(words), "\(verdict.message)")
  }

  @Test(arguments: [
    (#""title": "t", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z""#, "event 1: \"key\" is missing"),
    (#""key": "a", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z""#, "\"title\" is missing"),
    (#""key": "a", "title": "t", "end": "2026-03-28T11:00:00Z""#, "\"start\" is missing"),
    (#""key": "a", "title": "t", "start": "2026-03-28T10:00:00Z""#, "\"end\" is missing"),
    (#""key": "", "title": "t", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T10:00:00Z""#, "1 to 1000 bytes"),
    (#""key": "a", "title": 5, "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T10:00:00Z""#, "must be a text"),
    (#""key": "a", "title": {"b": 1}, "start": "x", "end": "x""#, "\"title\" must be a text"),
    (#""key": "a", "key": "b""#, "\"key\" is there twice"),
    (
      #""key": "a", "title": "t", "allDay": "yes", "start": "2026-03-28", "end": "2026-03-28""#, "must be true or false"
    ),
    (#""key": "a", "title": "t", "start": "2026-03-28T11:00:00Z", "end": "2026-03-28T10:00:00Z""#, "before"),
    (#""key": "a", "title": "t", "start": "2026-03-28T11:00:00+01:00", "end": "2026-03-28T11:00:00+02:00""#, "before"),
    (#""key": "a", "title": "t", "start": "2026-03-28T10:00:00", "end": "2026-03-28T11:00:00Z""#, "without an offset"),
    (#""key": "a", "title": "t", "start": "2026-03-28", "end": "2026-03-28""#, "set \"allDay\" to true"),
    (#""key": "a", "title": "t", "start": "2026-02-30T10:00:00Z", "end": "2026-03-28T11:00:00Z""#, "expected a time"),
    (#""key": "a", "title": "t", "start": "2026-03-28T24:00:00Z", "end": "2026-03-29T11:00:00Z""#, "expected a time"),
    (#""key": "a", "title": "t", "start": "tomorrow", "end": "2026-03-28T11:00:00Z""#, "tomorrow"),
    (
      #""key": "a", "title": "t", "allDay": true, "start": "2026-03-28T10:00:00Z", "end": "2026-03-28""#, "needs a date"
    ),
    (#""key": "a", "title": "t", "allDay": true, "start": "2026-03-28", "end": "2026-03-27""#, "before"),
    (#""key": "a", "title": "t", "allDay": true, "start": "2026-03-28", "end": "2026-13-01""#, "2026-13-01"),
    (#""key": "a", "title": "t", "allDay": true, "start": "9999-12-31", "end": "9999-12-31""#, "9999-12-31"),
    (#""key": "a", "title": "t", "start": "0001-01-01T00:00:00+14:00", "end": "2026-03-28T11:00:00Z""#, "0001"),
  ])
  func `a bad event is refused with its number, its key and what is expected`(members: String, words: String) throws {
    let verdict = try Self.refusal(event(members))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains(words), "\(verdict.message)")
    #expect(verdict.message.hasPrefix("event 1"))
  }

  @Test func `texts beyond what can be kept are refused`() throws {
    let verdict = try Self.refusal(part([Listed(notes: String(repeating: "ä", count: 16_001))]))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains("shorten \"notes\""))
  }

  @Test func `the longest texts fit the host's state, however they are escaped`() throws {
    let place = try FilePlace()
    let host = place.host()
    #expect(host.deliver(try part([Listed(notes: String(repeating: "\"", count: 31_900))])).outcome == .delivered)
    #expect(host.pipelineState.values.allSatisfy { $0.count <= 65_536 })
  }

  @Test func `a part beyond 16 MB is refused before it is read`() throws {
    let host = try FilePlace().host()
    let verdict = host.deliver(FakeDelivery(FakeSource(zeros: 16 << 20 | 1)))
    #expect(verdict.outcome == .refused)
    #expect(verdict.reason == .tooLarge)
    #expect(host.bytesRead == 0)
  }

  @Test func `a packed part needs attention`() throws {
    var packed = try part([])
    packed.contentEncoding = "gzip"
    #expect(try FilePlace().host().deliver(packed).outcome == .needsAttention)
  }

  @Test func `damaged bytes are a retry that writes nothing`() throws {
    let place = try FilePlace()
    var delivery = try part([Listed()])
    delivery.source.isDamaged = true
    #expect(place.host().deliver(delivery).outcome == .retry)
    #expect(place.names.isEmpty)
  }

  @Test func `members that no event has are left out and told`() throws {
    let place = try FilePlace()
    let verdict = place.host().deliver(event("\(Self.good), \"colour\": [1, {\"a\": []}], \"more\": 1"))
    #expect(verdict.outcome == .delivered)
    #expect(verdict.message.contains("\"colour\" isn't a member"))
  }

  @Test(arguments: [
    ("2026-03-28T10:00:00Z", 1_774_692_000), ("2026-03-28t10:00:00z", 1_774_692_000),
    ("2026-03-28T10:00:00.999+01:00", 1_774_688_400), ("2026-03-28T10:00+0100", 1_774_688_400),
    ("2026-03-28T10:00:00+01", 1_774_688_400), ("2026-03-27T23:30:00-10:30", 1_774_692_000),
    ("1969-12-31T23:59:59Z", -1), ("2024-02-29T00:00:00Z", 1_709_164_800),
    ("2016-12-31T23:59:60Z", 1_483_228_800), ("2016-12-31T18:59:60.5-05:00", 1_483_228_800),
  ])
  func `instants are read with any offset`(text: String, seconds: Int64) {
    #expect(CivilTime.instant(text) == .at(seconds))
  }

  @Test(arguments: [
    "", "2026", "2026-3-28T10:00:00Z", "2026-03-28 10:00:00Z", "2026-03-28T10Z", "2026-03-28T10:60:00Z",
    "2026-03-28T10:00:61Z", "2026-03-28T10:00:00+1", "2026-03-28T10:00:00+24:00", "2026-03-28T10:00:00ZZ",
    "2025-02-29T10:00:00Z", "2026-00-01T10:00:00Z", "2026-04-31T00:00:00Z", "2026-03-28T10:00:00.Z",
    "٢٠٢٦-03-28T10:00:00Z",
    "2026-03-28T10:00:00+01:0", "0000-01-01T00:00:00Z",
  ])
  func `what isn't an instant is told from one`(text: String) {
    #expect(CivilTime.instant(text) == .unreadable)
  }

  @Test func `days are read and written over the whole calendar`() {
    for (text, day) in [("1970-01-01", Int64(0)), ("1969-12-31", -1), ("2000-02-29", 11_016), ("0001-01-01", -719_162)]
    {
      #expect(CivilTime.day(text) == day)
      #expect(CivilTime.basicDate(day: day) == text.replacingOccurrences(of: "-", with: ""))
    }
    #expect(CivilTime.day("1900-02-29") == nil)
    #expect(CivilTime.basic(seconds: 253_402_300_799) == "99991231T235959Z")
  }

  @Test func `any cut of a part is told as a mistake and never traps`() throws {
    let whole = try partBytes([Listed(notes: "ä\n"), .day("b", "2026-03-28", "2026-03-28")])
    for count in 0..<whole.count {
      #expect(throws: Verdict.self) { try EventPart(Array(whole.prefix(count))) }
    }
    #expect(try EventPart(whole).count == 2)
  }
}
