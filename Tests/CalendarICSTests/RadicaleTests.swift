// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

@Suite struct RadicaleTests {
  static let foreign = """
    BEGIN:VCALENDAR\r
    VERSION:2.0\r
    PRODID:-//Ada//EN\r
    BEGIN:VEVENT\r
    UID:dentist\r
    DTSTAMP:20260101T000000Z\r
    DTSTART:20260401T080000Z\r
    DTEND:20260401T090000Z\r
    SUMMARY:Dentist\r
    END:VEVENT\r
    END:VCALENDAR\r

    """
  static let name = EventIdentity(pipeline: "steps", key: "run-1").fileName(revision: 1)

  @Test(arguments: Radicale.Version.allCases)
  func `three runs with changes leave exactly the right events and a user's own untouched`(
    version: Radicale.Version
  ) throws {
    let calendar = try RadicaleCalendar(version)
    try calendar.put("dentist.ics", Self.foreign)
    let before = try calendar.get("dentist.ics")
    let host = calendar.host()
    let first = host.deliver(try part([Listed(notes: "easy"), .day("d", "2026-03-28", "2026-03-30")]))
    #expect(first.outcome == .delivered, "\(first.message)")
    #expect(first.message == "events: 2 made")
    let second = host.deliver(
      try part([Listed(title: "Long run", notes: "hard"), Listed(key: "run-2")], created: 1_796_040_000_000))
    #expect(second.message == "events: 1 made, 1 changed")
    let third = host.deliver(
      try part(
        [Listed(title: "Long run", notes: "hard"), .day("d", "2026-03-28", "2026-03-30"), Listed(key: "run-2")],
        created: 1_796_050_000_000))
    #expect(third.message == "events: 3 unchanged")
    let events = try calendar.events()
    #expect(events.map(\.title) == ["Day", "Dentist", "Long run", "Run"])
    #expect(events.map(\.sequence) == [0, -1, 1, 0])
    #expect(events[0].start == "2026-03-28")
    #expect(events[0].end == "2026-03-31")
    #expect(events[2].notes == "hard")
    #expect(events[2].changed == "2026-11-30T12:00:00Z")
    #expect(try calendar.get("dentist.ics") == before)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `an event that the user deleted is made again, changed or not`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try calendar.delete(Self.name)
    #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
    #expect(try calendar.events().map(\.title) == ["Run"])
    try calendar.delete(Self.name)
    #expect(host.deliver(try part([Listed(title: "Other")])).message == "events: 1 made")
    let events = try calendar.events()
    #expect(events.map(\.title) == ["Other"])
    #expect(events[0].sequence == 2)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `what a user added to an event stays, what is ours is put right`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed(notes: "easy")])).outcome == .delivered)
    let added =
      "COLOR:red\r\nCATEGORIES:Sport,Mine\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Go\r\nTRIGGER:-PT5M\r\n"
      + "END:VALARM\r\nEND:VEVENT"
    try calendar.put(
      Self.name, try calendar.get(Self.name).replacingOccurrences(of: "END:VEVENT", with: added))
    // A change of what isn't ours is no reason to write.
    #expect(host.deliver(try part([Listed(notes: "easy")])).message == "events: 1 unchanged")
    #expect(host.deliver(try part([Listed(title: "Other", notes: "easy")])).message == "events: 1 changed")
    try calendar.put(
      Self.name, try calendar.get(Self.name).replacingOccurrences(of: "SUMMARY:Other", with: "SUMMARY:My words"))
    #expect(host.deliver(try part([Listed(title: "Other", notes: "easy")])).message == "events: 1 changed")
    let event = try #require(try calendar.events().first)
    #expect(event.title == "Other")
    #expect(event.color == "red")
    #expect(event.alarms == 1)
    #expect(event.sequence == 2)
    let text = try calendar.get(Self.name)
    #expect(text.contains("CATEGORIES:Sport,Mine"))
    #expect(text.contains("DESCRIPTION:Go"))
  }

  @Test(arguments: Radicale.Version.allCases)
  func `events made before the state was lost are adopted, not made twice`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let events = [Listed(), Listed(key: "run-2", notes: "x")]
    #expect(calendar.host().deliver(try part(events)).outcome == .delivered)
    #expect(calendar.host().deliver(try part(events)).message == "events: 2 unchanged")
    #expect(calendar.host().deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(try calendar.events().map(\.title) == ["New", "Run"])
  }

  @Test(arguments: Radicale.Version.allCases)
  func `our event under another name is adopted where it is`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    #expect(calendar.host().deliver(try part([Listed()])).outcome == .delivered)
    let text = try calendar.get(Self.name)
    try calendar.delete(Self.name)
    try calendar.put("moved.ics", text)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 unchanged")
    #expect(try calendar.events().map(\.title) == ["New"])
    #expect(try calendar.get("moved.ics").contains("SUMMARY:New"))
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a foreign event with our UID is refused and stays`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let uid = EventIdentity(pipeline: "steps", key: "run-1").uid(revision: 1)
    try calendar.put("theirs.ics", Self.foreign.replacingOccurrences(of: "UID:dentist", with: "UID:\(uid)"))
    try calendar.put(
      EventIdentity(pipeline: "steps", key: "run-2").fileName(revision: 1), Self.foreign)
    let verdict = calendar.host().deliver(try part([Listed(), Listed(key: "run-2"), Listed(key: "run-3")]))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains("1 made, 2 refused"), "\(verdict.message)")
    #expect(verdict.message.contains(#"event 1 (key "run-1") of 3"#))
    #expect(try calendar.events().map(\.title) == ["Dentist", "Dentist", "Run"])
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a missing calendar needs attention and is never made`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version, create: false)
    let verdict = calendar.host().deliver(try part([Listed()]))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .notFound)
    #expect(try calendar.host().open(CalendarTarget.self).check().outcome == .needsAttention)
    #expect(try Curl.run("PROPFIND", calendar.url, user: RadicaleCalendar.user).status == 404)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a calendar that is gone after deliveries needs attention`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let host = calendar.host()
    #expect(host.deliver(try part([Listed()])).outcome == .delivered)
    try calendar.delete("")
    #expect(host.deliver(try part([Listed()])).outcome == .needsAttention)
    #expect(host.deliver(try part([Listed(title: "Other")])).outcome == .needsAttention)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a wrong password needs attention, in a check too`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let host = calendar.host(password: "hunter-two")
    let verdict = host.deliver(try part([Listed()]))
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .credentials)
    #expect(verdict.status == 401)
    #expect(!verdict.message.contains("hunter"))
    #expect(try host.open(CalendarTarget.self).check().status == 401)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a check finds the calendar, tells a folder from it and changes nothing`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let verdict = try calendar.host().open(CalendarTarget.self).check()
    #expect(verdict.outcome == .delivered, "\(verdict.message)")
    var test = FakeDelivery("")
    test.isTest = true
    #expect(calendar.host().deliver(test).outcome == .delivered)
    #expect(try calendar.events().isEmpty)
    let home = calendar.url.split(separator: "/").dropLast().joined(separator: "/").replacing("http:/", with: "http://")
    let above = FakeHost(settings: ["url": .text(home), "username": "ada"], secrets: ["password": "swordfish"])
    let told = try above.open(CalendarTarget.self).check()
    #expect(told.outcome == .needsAttention)
    #expect(told.message.contains("not a calendar"))
  }

  @Test(arguments: Radicale.Version.allCases)
  func `odd texts come back as they went in`(version: Radicale.Version) throws {
    let calendar = try RadicaleCalendar(version)
    let host = calendar.host()
    let odd = Listed(
      key: "k;,\\\" ö", title: String(repeating: "🏃🏽‍♀️", count: 200), notes: "a;b,c\\n\r\nd\\", location: "x\ny")
    #expect(host.deliver(try part([odd])).outcome == .delivered)
    #expect(host.deliver(try part([odd])).message == "events: 1 unchanged")
    #expect(calendar.host().deliver(try part([odd])).message == "events: 1 unchanged", "compared without the ledger")
    let event = try #require(try calendar.events().first)
    #expect(event.title == odd.title)
    #expect(event.notes == "a;b,c\\n\nd\\")
    #expect(event.location == "x\ny")
    #expect(event.key == odd.key)
  }

  @Test func `another calendar in the settings gets all events, and the old one keeps its own`() throws {
    let (one, two) = (try RadicaleCalendar(.current), try RadicaleCalendar(.current))
    let host = one.host()
    #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
    host.settings.set("url", .text(two.url))
    #expect(host.deliver(try part([Listed()])).message == "events: 1 made")
    host.settings.set("url", .text(one.url))
    #expect(host.deliver(try part([Listed(title: "New")])).message == "events: 1 changed")
    #expect(try one.events().map(\.title) == ["New"])
    #expect(try two.events().map(\.title) == ["Run"])
  }
}
