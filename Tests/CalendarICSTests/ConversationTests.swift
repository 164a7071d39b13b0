// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

/// Against the stand-in, for what real servers do seldom.
@Suite struct ConversationTests {
  let calendar: PeerCalendar

  init() throws { calendar = try PeerCalendar() }

  /// What holds for every request.
  func expectCareful() throws {
    for request in try calendar.requests() {
      #expect(request.headers["transfer-encoding"] == nil)
      guard request.method == "PUT" else { continue }
      #expect(request.length)
      #expect(request.headers["content-type"] == "text/calendar; charset=utf-8")
      #expect((request.headers["if-match"] == nil) != (request.headers["if-none-match"] == nil))
      expectWellFormed(Array(request.body.utf8))
      #expect(!request.body.contains("METHOD"))
    }
  }

  @Test func `nothing changed means no PUT, and one question for each event`() throws {
    let host = calendar.host()
    let events = try part([Listed(), Listed(key: "run-2"), .day("d", "2026-03-28", "2026-03-28")])
    #expect(host.deliver(events).outcome == .delivered)
    let before = try calendar.objects()
    try calendar.rules("{}")
    #expect(host.deliver(events).message == "events: 3 unchanged")
    #expect(try calendar.requests().map(\.method) == ["GET", "GET", "GET"])
    #expect(try calendar.objects() == before)
    try calendar.rules(#"{"unconditional-get": true}"#)
    #expect(host.deliver(events).message == "events: 3 unchanged")
    #expect(try calendar.requests().map(\.method) == ["GET", "GET", "GET"])
  }

  @Test func `an event is put with a condition, and an update with the tag it replaces`() throws {
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try expectCareful()
    #expect(try calendar.requests().map(\.method) == ["PUT"])
    #expect(try calendar.requests().first?.headers["if-none-match"] == "*")
    try calendar.rules("{}")
    #expect(host.deliver(try part([Listed(title: "New")])).outcome == .delivered)
    #expect(try calendar.requests().map(\.method) == ["GET", "PUT"])
    #expect(try calendar.requests().last?.headers["if-match"]?.hasPrefix("\"") == true)
    try expectCareful()
  }

  @Test(arguments: ["absent-on-put", "absent", "weak-on-get"])
  func `a server that tells tags late, weakly or never gets no second event`(tags: String) throws {
    try calendar.rules(#"{"tags": "\#(tags)"}"#)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
    #expect(host.deliver(try part([Listed()])).message == "events: 1 unchanged")
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 unchanged")
    #expect(try calendar.events().map(\.title) == ["New"])
    #expect(try calendar.events().map(\.sequence) == [1])
    try expectCareful()
  }

  @Test func `a server that rewrites what it is given isn't written to again and again`() throws {
    try calendar.rules(#"{"normalises": true}"#)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
    #expect(try calendar.requests().map(\.method) == ["PUT", "GET"])
    #expect(host.deliver(try part([Listed()])).message == "events: 1 unchanged")
    #expect(try calendar.objects().values.first?.contains("X-NORMALISED") == true)
  }

  @Test func `an event whose UID lies in the trash is made again under another`() throws {
    try calendar.rules(#"{"trash": true}"#)
    let host = calendar.host()
    let identity = EventIdentity(pipeline: "steps", key: "run-1")
    for revision in 1...4 {
      #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
      #expect(try calendar.events().map(\.uid) == [identity.uid(revision: revision)])
      #expect(host.deliver(try part([Listed(title: "t\(revision)")])).message == "events: 1 changed")
      try calendar.delete(identity.fileName(revision: revision))
    }
    // Without the ledger too: each UID in the trash is tried, then the next.
    #expect(calendar.host().deliver(try part([Listed()])).message == "events: 1 made")
    #expect(try calendar.events().map(\.uid) == [identity.uid(revision: 5)])
    for revision in 5...9 {
      try calendar.delete(identity.fileName(revision: revision))
      let verdict = host.deliver(try part([Listed()]))
      #expect(verdict.outcome == (revision < 9 ? .delivered : .refused))
    }
    try expectCareful()
  }

  @Test(arguments: ["condition", "words"])
  func `our event elsewhere in the calendar is found by its UID`(conflict: String) throws {
    #expect(calendar.host().deliver(try part([Listed()])).outcome == .delivered)
    let (name, text) = try #require(try calendar.objects().first)
    try calendar.delete(name)
    try calendar.put("moved.ics", text)
    try calendar.rules(#"{"conflict": "\#(conflict)"}"#)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(try calendar.requests().map(\.method) == ["PUT", "REPORT", "GET", "PUT"])
    #expect(try calendar.objects().keys.sorted() == ["moved.ics"])
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 unchanged")
  }

  @Test func `an event without our mark is not ours, even with our UID`() throws {
    #expect(calendar.host().deliver(try part([Listed()])).outcome == .delivered)
    let (name, text) = try #require(try calendar.objects().first)
    let bare = text.replacingOccurrences(of: "X-RELAY-KEY:run-1\r\n", with: "")
    try calendar.delete(name)
    try calendar.put(name, bare)
    #expect(calendar.host().deliver(try part([Listed(title: "New")])).outcome == .refused)
    #expect(try calendar.objects() == [name: bare])
  }

  @Test func `our event from which a client took the mark is still ours where it was`() throws {
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    let (name, text) = try #require(try calendar.objects().first)
    try calendar.put(name, text.replacingOccurrences(of: "X-RELAY-KEY:run-1\r\n", with: ""))
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(try calendar.objects()[name]?.contains("X-RELAY-KEY:run-1") == true)
  }

  @Test func `a user who changes an event between our question and our answer loses nothing`() throws {
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try calendar.rules(#"{"answers": [{"method": "PUT", "status": 412}]}"#)
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(try calendar.requests().map(\.method) == ["GET", "PUT", "GET", "PUT"])
    let never = Array(repeating: #"{"method": "PUT", "status": 412}"#, count: 50).joined(separator: ",")
    try calendar.rules(#"{"answers": [\#(never)]}"#)
    #expect(host.deliver(try part([Listed(title: "Newer")])).outcome == .retry)
    #expect(try calendar.requests().count < 20)
  }

  @Test func `one bad event is told and the others go on`() throws {
    try calendar.rules(
      #"{"answers": [{"method": "PUT", "status": 415, "body": "<d:error xmlns:d='DAV:' xmlns:s='s'><s:message>Validation error in iCalendar: bad &amp; worse</s:message></d:error>"}]}"#
    )
    let host = calendar.host()
    let verdict = host.deliver(try part([Listed(), Listed(key: "run-2"), Listed(key: "run-3")]))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains("2 made, 1 refused"), "\(verdict.message)")
    #expect(verdict.message.contains(#"event 1 (key "run-1") of 3"#))
    #expect(verdict.message.contains("415: Validation error in iCalendar: bad & worse"))
    #expect(try calendar.events().map(\.key) == ["run-2", "run-3"])
  }

  @Test func `a retry goes on where the first attempt ended`() throws {
    let host = calendar.host()
    try calendar.rules(#"{"cut": [4, 9, "before"]}"#)
    let events = try part((1...5).map { Listed(key: "run-\($0)") })
    #expect(host.deliver(events).outcome == .retry)
    #expect(!host.deliveryState.isEmpty)
    try calendar.rules("{}")
    #expect(host.deliver(events).message == "events: 5 made")
    #expect(try calendar.requests().map(\.method) == ["PUT", "PUT"])
    #expect(try calendar.events().count == 5)
  }

  @Test func `a redirect is shown and never followed`() throws {
    for method in ["PUT", "GET"] {
      try calendar.rules("{}")
      let host = calendar.host()
      if method == "GET" { #expect(host.deliver(try part([Listed()])).outcome == .delivered) }
      try calendar.rules(
        #"{"answers": [{"method": "\#(method)", "status": 301, "headers": {"Location": "/elsewhere/cal/x.ics"}}]}"#)
      let verdict = host.deliver(try part([Listed(title: "New")]))
      #expect(verdict.outcome == .needsAttention)
      #expect(verdict.message.contains("/elsewhere/cal/x.ics"))
      #expect(try calendar.requests().count == 1)
    }
  }

  @Test(arguments: [
    (403, "", Verdict.Outcome.needsAttention), (507, "", .retry), (423, "", .retry), (503, "", .retry),
    (401, "", .needsAttention),
    (403, "<d:error xmlns:d='DAV:'><d:valid-calendar-data/></d:error>", .refused), (413, "", .refused),
    (404, "", .needsAttention),
    (403, "<C:error xmlns:C='DAV:'><C:supported-calendar-component/></C:error>", .needsAttention),
    (400, "no", .refused),
    (405, "", .needsAttention), (202, "", .retry), (200, "<html>Sign in</html>", .needsAttention),
  ])
  func `each answer to a PUT has its verdict`(status: Int, body: String, outcome: Verdict.Outcome) throws {
    try calendar.rules(#"{"answers": [{"method": "PUT", "status": \#(status), "body": "\#(body)"}]}"#)
    let verdict = calendar.host().deliver(try part([Listed()]))
    #expect(verdict.outcome == outcome, "\(verdict.message)")
    #expect(!verdict.maybeDelivered)
    #expect(try calendar.objects().isEmpty)
  }

  @Test func `429 with a time is waited for`() throws {
    try calendar.rules(#"{"answers": [{"method": "PUT", "status": 429, "headers": {"Retry-After": "120"}}]}"#)
    let verdict = calendar.host().deliver(try part([Listed()]))
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .throttled)
    #expect(verdict.retryAfter == .seconds(120))
  }

  @Test(arguments: [404, 409])
  func `a calendar that is gone needs attention`(status: Int) throws {
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try calendar.rules(#"{"missing": \#(status)}"#)
    for title in ["Run", "New"] {
      let verdict = host.deliver(try part([Listed(title: title)]))
      #expect(verdict.outcome == .needsAttention)
      #expect(verdict.reason == .notFound)
    }
  }

  @Test(arguments: ["<html>Please sign in</html>", "", "BEGIN:VCALENDAR\\r\\nVERSION:2.0\\r\\n", "\\u0000"])
  func `something else than a calendar where our event was needs attention`(body: String) throws {
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try calendar.rules(#"{"answers": [{"method": "GET", "status": 200, "body": "\#(body)"}]}"#)
    #expect(host.deliver(try part([Listed(title: "New")])).outcome == .needsAttention)
  }

  @Test(arguments: [
    ("<d:resourcetype><d:collection/></d:resourcetype>", "not a calendar"),
    ("<d:resourcetype/>", "not a calendar"),
    (
      "<d:resourcetype><cal:calendar/></d:resourcetype><d:current-user-privilege-set><d:privilege><d:read/></d:privilege></d:current-user-privilege-set>",
      "only be read"
    ),
    (
      "<d:resourcetype><cal:calendar/></d:resourcetype><cal:supported-calendar-component-set><cal:comp name='VTODO'/></cal:supported-calendar-component-set>",
      "takes no events"
    ),
  ])
  func `a check tells why a calendar can't be used`(properties: String, words: String) throws {
    try calendar.rules(#"{"properties": "\#(properties)"}"#)
    let verdict = try calendar.host().open(CalendarTarget.self).check()
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.message.contains(words), "\(verdict.message)")
    #expect(try calendar.requests().map(\.method) == ["PROPFIND"])
    #expect(try calendar.requests().first?.headers["depth"] == "0")
  }

  @Test func `a check needs an answer that speaks of calendars`() throws {
    for (status, outcome) in [
      (200, Verdict.Outcome.needsAttention), (207, .needsAttention), (401, .needsAttention), (503, .retry),
      (301, .needsAttention),
    ] {
      try calendar.rules(#"{"answers": [{"method": "PROPFIND", "status": \#(status), "body": "hello"}]}"#)
      #expect(try calendar.host().open(CalendarTarget.self).check().outcome == outcome)
    }
  }
}
