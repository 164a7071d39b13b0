// SPDX-License-Identifier: Apache-2.0
import CCurl
import CurlTransport
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct ServerTextTests {
  static let object = """
    BEGIN:VCALENDAR\r
    METHOD:REQUEST\r
    VERSION:2.0\r
    BEGIN:VTIMEZONE\r
    TZID:Europe/Berlin\r
    BEGIN:STANDARD\r
    DTSTART:19701025T030000\r
    END:STANDARD\r
    END:VTIMEZONE\r
    begin:vevent\r
    UID:a@\r
     steps\r
    RECURRENCE-ID:20260404T090000Z\r
    SUMMARY:Changed occurrence\r
    END:VEVENT\r
    BEGIN:VEVENT\r
    summary;LANGUAGE="d:e":Old\r
    UID:a@steps\r
    X-RELAY-KEY:k\r
    DTSTART;TZID=Europe/Berlin:20260328T100000\r
    DURATION:PT1H\r
    SEQUENCE:7\r
    X-FOO;X-P="a:b;c":v\\,1\r
    FANCY:kept as it is, even if nobody knows it\r
    RRULE:FREQ=WEEKLY\r
    BEGIN:VALARM\r
    ACTION:DISPLAY\r
    DESCRIPTION:Alarm\r
    TRIGGER:-PT5M\r
    END:VALARM\r
    END:VEVENT\r
    END:VCALENDAR\r

    """

  @Test func `an update replaces our properties of the event itself and passes everything else on`() throws {
    let text = try #require(ObjectText(Array(Self.object.utf8)))
    let written = String(decoding: text.replacing(["UID:a@steps", "SUMMARY:New"], uid: "a@steps"), as: UTF8.self)
    let expected = Self.object.replacingOccurrences(of: "METHOD:REQUEST\r\n", with: "")
      .replacingOccurrences(of: "UID:a@\r\n steps\r\nREC", with: "UID:a@steps\r\nREC")
      .replacingOccurrences(
        of: "summary;LANGUAGE=\"d:e\":Old\r\nUID:a@steps\r\nX-RELAY-KEY:k\r\n", with: "UID:a@steps\r\nSUMMARY:New\r\n"
      )
      .replacingOccurrences(
        of: "DTSTART;TZID=Europe/Berlin:20260328T100000\r\nDURATION:PT1H\r\nSEQUENCE:7\r\n", with: "")
    #expect(written == expected)
  }

  @Test func `libical reads the event itself and what it shows`() throws {
    let text = try #require(ObjectText(Array(Self.object.utf8)))
    let there = try #require(ServerEvent(text, uid: "a@steps"))
    #expect(there.title == "Old")
    #expect(there.sequence == 7)
    #expect(there.isMarked)
    #expect(there.isRetimed)
    #expect(ServerEvent(text, uid: "b@steps") == nil)
  }

  @Test func `an event of ours is read as what it was written from`() throws {
    let events = [
      CalendarEvent(
        key: "k", title: "a;b,c\\ \"q\"", time: .timed(start: 0, end: 3600), notes: "1\n2\\n;", location: ","),
      CalendarEvent(key: "k", title: "", time: .timed(start: 5, end: 5), notes: nil, location: nil),
      CalendarEvent(key: "k", title: "ü", time: .days(first: 20_000, last: 20_002), notes: nil, location: "x\ty"),
    ]
    for event in events {
      let written = EventText(event: event, uid: "a@steps", sequence: 3, changed: 0)
      let there = try #require(ObjectText(written.object).flatMap { ServerEvent($0, uid: "a@steps") })
      #expect(there.shows(event))
      #expect(there.sequence == 3)
      for other in events where other != event { #expect(!there.shows(other)) }
    }
  }

  @Test func `what isn't one whole calendar is told from one, at every cut`() {
    let whole = Array(Self.object.utf8)
    for count in 0..<whole.count - 2 { #expect(ObjectText(Array(whole.prefix(count))) == nil) }
    #expect(ObjectText(whole) != nil)
    #expect(ObjectText(Array(Self.object.replacingOccurrences(of: "\r\n", with: "\n").utf8)) != nil)
    #expect(ObjectText(whole + whole) == nil)
    #expect(ObjectText(whole + [0]) == nil)
    let deep = String(repeating: "BEGIN:VEVENT\r\n", count: 50_000) + String(repeating: "END:VEVENT\r\n", count: 50_000)
    #expect(ObjectText(Array("BEGIN:VCALENDAR\r\n\(deep)END:VCALENDAR\r\n".utf8)) == nil)
  }

  @Test func `spoiled calendars never trap`() {
    let whole = Array(Self.object.utf8)
    for index in whole.indices {
      for byte: UInt8 in [0x0a, 0x3a, 0x3b, 0x22, 0xff, 0x20] {
        var spoiled = whole
        spoiled[index] = byte
        guard let text = ObjectText(spoiled) else { continue }
        _ = ServerEvent(text, uid: "a@steps")
        _ = text.replacing(["UID:a@steps"], uid: "a@steps")
      }
    }
  }

  @Test func `207 answers are read whatever prefixes they use`() throws {
    let plain = #"""
      <?xml version="1.0"?><!-- a > comment -->
      <multistatus xmlns="DAV:"><response><href>/cal/a&amp;b.ics</href><propstat><prop><getetag>"x&#x41;&#66;"</getetag></prop>
      <status>HTTP/1.1 200 OK</status></propstat><propstat><prop><displayname>no</displayname></prop>
      <status>HTTP/1.1 404 Not Found</status></propstat></response>
      <response><href><![CDATA[/cal/c<.ics]]></href></response></multistatus>
      """#
    let prefixed = plain.replacing("<", with: "<D:").replacing("<D:/", with: "</D:").replacing("<D:?", with: "<?")
      .replacing("<D:!", with: "<!").replacing("c<D:.ics", with: "c<.ics")
    for text in [plain, prefixed] {
      let found = DAVResource.all(in: Array(text.utf8))
      #expect(found.map(\.href) == ["/cal/a&b.ics", "/cal/c<.ics"])
      #expect(found.first?.tag == "\"xAB\"")
      #expect(found.first?.properties["displayname"] == nil)
    }
  }

  @Test func `cut and spoiled XML never traps`() {
    let whole = Array(#"<?xml version="1.0"?><a b="c&gt;"><!-- d --><e:f g='h'/><![CDATA[i]]>&#x41;&j;</a>"#.utf8)
    for count in 0...whole.count { _ = XMLElement.parse(Array(whole.prefix(count))) }
    for index in whole.indices {
      for byte in "<>/&;\"='!?-][".utf8 {
        var spoiled = whole
        spoiled[index] = byte
        _ = XMLElement.parse(spoiled)
      }
    }
    #expect(XMLElement.parse(Array(String(repeating: "<a>", count: 100_000).utf8))?.name == "a")
    #expect(XMLElement.parse(Array("hello".utf8)) == nil)
  }

  @Test func `the words of servers are found in their errors`() {
    func answer(_ body: String) -> Answer { Answer(code: CURLE_OK, status: 400, body: Array(body.utf8)) }
    let taken = answer(
      "<d:error xmlns:d='DAV:' xmlns:s='s'><s:message>Calendar object with uid already exists in this calendar collection.</s:message></d:error>"
    )
    #expect(DAVError(taken).isTaken)
    #expect(!DAVError(taken).isInTrash)
    let trash = answer(
      "<d:error xmlns:d='DAV:' xmlns:s='s'><s:message>Deleted calendar object with uid already exists in this calendar collection.</s:message></d:error>"
    )
    #expect(DAVError(trash).isInTrash)
    #expect(
      DAVError(
        answer(
          "<C:error xmlns:C='x'><C:no-uid-conflict><D:href xmlns:D='DAV:'>/x</D:href></C:no-uid-conflict></C:error>")
      ).isTaken)
    #expect(DAVError(answer("no")) == DAVError(answer("")))
  }
}
