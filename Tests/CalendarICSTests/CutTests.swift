// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import CalendarICSLogic

/// A connection, a worker or a machine that ends at any point of the conversation.
@Suite struct CutTests {
  static let first = [Listed(), Listed(key: "run-2", notes: "x"), .day("d", "2026-03-28", "2026-03-29")]
  static let second = [Listed(title: "New"), Listed(key: "run-2", notes: "x"), Listed(key: "run-4")]

  /// The state of the calendar after both deliveries, whatever happened between.
  static func expectRight(_ calendar: PeerCalendar, _ where_: String) throws {
    let events = try calendar.events()
    #expect(events.map(\.key) == ["d", "run-1", "run-2", "run-4", nil].sorted { ($0 ?? "") < ($1 ?? "") }, "\(where_)")
    #expect(events.filter { $0.key != nil }.map(\.title) == ["Day", "New", "Run", "Run"], "\(where_)")
    #expect(try calendar.objects()["dentist.ics"] == RadicaleTests.foreign)
  }

  @Test(arguments: ["before", "after", "within"], ["strong", "absent-on-put"])
  func `a cut anywhere leaves each event once after the retry, and others' untouched`(when: String, tags: String) throws
  {
    for number in 1... {
      let calendar = try PeerCalendar()
      try calendar.put("dentist.ics", RadicaleTests.foreign)
      let host = calendar.host()
      #expect(host.deliver(try part(Self.first)).outcome == .delivered)
      try calendar.rules(#"{"cut": [\#(number), 99, "\#(when)"], "tags": "\#(tags)"}"#)
      let delivery = try part(Self.second, created: 1_796_040_000_000)
      let verdict = host.deliver(delivery)
      if verdict.outcome == .delivered {
        // Not one request more than the conversation has; the cut never came.
        #expect(number > 4)
        #expect(try calendar.requests().count < number)
        break
      }
      #expect(verdict.outcome == .retry)
      #expect(!verdict.maybeDelivered)
      try calendar.rules(#"{"tags": "\#(tags)"}"#)
      #expect(host.deliver(delivery).outcome == .delivered)
      try Self.expectRight(calendar, "cut \(when) answer \(number)")
      #expect(try calendar.events().first { $0.key == "run-1" }?.sequence == 1)
      // Now that all is well, nothing is left to do.
      host.eraseDeliveryState()
      try calendar.rules("{}")
      #expect(host.deliver(delivery).message == "events: 3 unchanged")
      #expect(try !calendar.requests().contains { $0.method == "PUT" })
    }
  }

  /// libcurl sends a request again by itself when a kept connection dies; the condition in it makes that harmless.
  @Test(arguments: ["before", "after", "within"])
  func `one lost connection is made good within the delivery`(when: String) throws {
    for number in 2...5 {
      let calendar = try PeerCalendar()
      try calendar.put("dentist.ics", RadicaleTests.foreign)
      let host = calendar.host()
      #expect(host.deliver(try part(Self.first)).outcome == .delivered)
      try calendar.rules(#"{"cut": [\#(number), 1, "\#(when)"]}"#)
      let delivery = try part(Self.second, created: 1_796_040_000_000)
      if host.deliver(delivery).outcome == .retry {
        #expect(when == "within")
        #expect(host.deliver(delivery).outcome == .delivered)
      }
      try Self.expectRight(calendar, "one cut \(when) answer \(number)")
      #expect(try calendar.events().first { $0.key == "run-1" }?.sequence == 1)
    }
  }

  /// The worker dies when it would note what it did: of all that it had sent nothing is known afterwards.
  @Test func `a death before any note repeats at most the one event under way`() throws {
    for puts in 0..<6 {
      let calendar = try PeerCalendar()
      try calendar.put("dentist.ics", RadicaleTests.foreign)
      let host = calendar.host()
      #expect(host.deliver(try part(Self.first)).outcome == .delivered)
      let noted = host.statePuts.count
      host.stopWhen = { host in
        if host.statePuts.count >= noted + puts { host.stateFails = true }
        return false
      }
      let delivery = try part(Self.second, created: 1_796_040_000_000)
      let verdict = host.deliver(delivery)
      host.stopWhen = { _ in false }
      host.stateFails = false
      let before = try calendar.objects()
      try calendar.rules("{}")
      #expect(host.deliver(delivery).outcome == .delivered)
      try Self.expectRight(calendar, "\(puts) notes, \(verdict.outcome)")
      #expect(try calendar.events().first { $0.key == "run-1" }?.sequence == 1)
      // What had been put is put again only as a question that the server declines.
      let after = try calendar.objects()
      for (name, text) in before where text.contains("run-1") || text.contains("run-4") {
        if text.contains("SUMMARY:New") || text.contains("run-4") { #expect(after[name] == text) }
      }
    }
  }

  @Test func `a state that was lost for good makes no event twice`() throws {
    let calendar = try PeerCalendar()
    try calendar.put("dentist.ics", RadicaleTests.foreign)
    #expect(calendar.host().deliver(try part(Self.first)).outcome == .delivered)
    #expect(calendar.host().deliver(try part(Self.second)).outcome == .delivered)
    try Self.expectRight(calendar, "without any state")
  }

  @Test func `a stop between two events is cancelled and goes on`() throws {
    let calendar = try PeerCalendar()
    let host = calendar.host()
    host.stopWhen = { $0.statePuts.count >= 2 }
    let delivery = try part((1...5).map { Listed(key: "run-\($0)") })
    #expect(host.deliver(delivery).outcome == .cancelled)
    host.stopWhen = { _ in false }
    #expect(host.deliver(delivery).outcome == .delivered)
    #expect(try calendar.events().count == 5)
  }

  @Test(arguments: Radicale.Version.allCases)
  func `a real server behind a line that breaks at any byte ends up with each event once`(
    version: Radicale.Version
  ) throws {
    let server = try #require(try Radicale.shared[version]?.get())
    let proxy = try CuttingProxy(to: server.port)
    let calendar = try RadicaleCalendar(version)
    try calendar.put("dentist.ics", RadicaleTests.foreign)
    let host = FakeHost(
      settings: [
        "url": .text(calendar.url.replacing(":\(server.port)/", with: ":\(proxy.port)/")), "username": "ada",
      ], secrets: ["password": "swordfish"])
    var broken = 0
    // An event more and a title more each round, so that every round makes and changes; a prime step meets every line of
    // request and answer.
    for (round, bytes) in stride(from: 0, to: 900, by: 89).enumerated() {
      for way in ["up", "down"] {
        let events = (0...round).map { Listed(key: "k\($0)", title: "\(way) \(round)") }
        try proxy.obey("\(way) \(bytes)")
        let delivery = try part(events)
        if host.deliver(delivery).outcome == .retry { broken += 1 }
        try proxy.obey("pass")
        #expect(host.deliver(delivery).outcome == .delivered)
        host.eraseDeliveryState()
        let there = try calendar.events()
        #expect(there.filter { $0.key != nil }.map(\.title) == events.map(\.title), "\(way) \(bytes)")
        #expect(Set(there.compactMap(\.key)).count == events.count)
        #expect(there.count { $0.title == "Dentist" } == 1)
      }
    }
    #expect(broken > 10)
  }
}
