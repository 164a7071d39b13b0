// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import SMTPTargetLogic

/// The conversation broken off at every byte of either direction.
@Suite struct CutTests {
  let peer: Peer
  let proxy: Child
  let port: Int

  init() throws {
    peer = try Peer()
    peer.obey(#"{"offer": ["AUTH PLAIN", "SIZE 1000000"], "login": ["u", "secret"]}"#)
    proxy = try Child(["python3", Repository.path("Tests/Fixtures/servers/cutting_proxy.py"), "\(peer.port)"])
    port = try #require(Int(proxy.line()))
  }

  func cut(_ rule: String) {
    proxy.say(rule)
    #expect(proxy.line() == "ok")
  }

  /// Mails that have come, once no connection is open any more.
  func settled() throws -> [Event] {
    var events: [Event] = []
    #expect(
      try eventually {
        events = try peer.events
        return events.count { $0.event == "connect" } == events.count { $0.event == "end" }
      })
    return events.filter { $0.event == "mail" }
  }

  func host() throws -> FakeHost {
    FakeHost(
      settings: try peer.settings([
        ("port", .integer(Int64(port))), ("username", "u"), ("allowPasswordInClear", true),
        ("to", ["a@example.org", "b@example.org"]),
      ]), secrets: ["password": "secret"])
  }

  @Test func `wherever it is cut nothing is lost, and what comes twice is the same and was announced as unsure`() throws
  {
    // All bytes of both directions, as one whole conversation has them.
    #expect(try host().deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    _ = try settled()
    var totals: [Int] = []
    let counted = eventually {
      proxy.say("count")
      totals = proxy.line().split(separator: " ").compactMap { Int($0) }
      return totals.count == 2 && totals[0] > 600 && totals[1] > 150
    }
    try #require(counted, "\(totals)")
    var before = try settled().count
    let first = try #require(try settled().first?.sha256)
    var unsure = 0
    for (way, total, step) in [("up", totals[0], 7), ("down", totals[1], 3)] {
      // The last bytes one by one: there lie the dot and its answer.
      let (start, end) = way == "up" ? (1, total - 30) : (0, total - 60)
      let points = Array(stride(from: start, to: end, by: step)) + Array(end...total)
      for point in points {
        let host = try host()
        cut("\(way) \(point)")
        let verdict = host.deliver(SMTPTarget.self, FakeDelivery("x"))
        let came = try settled().count - before
        switch verdict.outcome {
        case .delivered: #expect(came == 1, "\(way) \(point)")
        case .retry:
          #expect(came == 0 || verdict.maybeDelivered, "\(way) \(point): \(verdict.message)")
          if verdict.maybeDelivered { unsure += 1 }
          cut("pass")
          let second = host.deliver(SMTPTarget.self, FakeDelivery("x"))
          #expect(second.outcome == .delivered, "\(way) \(point): \(second.message)")
          #expect(try settled().count == before + came + 1)
        default: Issue.record("\(way) \(point): \(verdict)")
        }
        before = try settled().count
      }
    }
    #expect(unsure > 10)
    #expect(try Set(peer.mails.map(\.sha256)) == [first])
    #expect(try peer.mails.allSatisfy { $0.recipients == ["a@example.org", "b@example.org"] })
  }
}
