// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import SMTPTargetLogic

/// Servers that break off, dawdle or talk nonsense.
@Suite struct TroubleTests {
  static var large: FakeDelivery { FakeDelivery(FakeSource(zeros: 3_000_000)) }

  @Test(arguments: ["greeting", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "dot"])
  func `a connection that ends at any phase is a retry, and unsure only behind the dot`(phase: String) throws {
    let peer = try Peer(.starttls)
    for cut in ["close", "reset", "garbage", "text-close:421 4.3.2 shutting down", "text-close:4"] {
      peer.obey(
        #"{"offer": ["STARTTLS"], "offerTLS": ["AUTH LOGIN"], "login": ["u", "secret"], "replies": {"\#(phase)": "\#(cut)"}}"#
      )
      let verdict = try peer.deliver(FakeDelivery("x"), [("username", "u")], password: "secret")
      #expect(verdict.outcome == .retry, "\(phase) \(cut): \(verdict.message)")
      #expect(verdict.maybeDelivered == (phase == "dot" && !cut.contains("421")), "\(phase) \(cut)")
      #expect(verdict.status == (cut.contains("421") ? 421 : 0), "\(phase) \(cut)")
    }
  }

  @Test func `a server that ends within the mail can't have taken it`() throws {
    let peer = try Peer()
    peer.obey(#"{"limit": 300000}"#)
    let verdict = try peer.deliver(Self.large)
    #expect(verdict.outcome == .retry)
    #expect(!verdict.maybeDelivered, "\(verdict)")
    #expect(try peer.mails.isEmpty)
  }

  @Test func `an answer to the mail that comes late is waited for`() throws {
    // 3 seconds unless RELAY_TEST_LATE says how many; more than 120 proves that libcurl's own limit is not in force.
    let late = ProcessInfo.processInfo.environment["RELAY_TEST_LATE"] ?? "3"
    let peer = try Peer()
    peer.obey(#"{"replies": {"dot": "late:\#(late):250 at last"}}"#)
    #expect(try peer.deliver().message == "at last")
    #expect(try peer.mails.count == 1)
    #expect(MailConnection.answerTimeout == 600)
    #expect(SMTPManifest.json.contains("\"finalAnswer\": 600"))
  }

  @Test func `stopping while nothing can have been taken is a cancellation, later it is unsure`() throws {
    let peer = try Peer()
    for (phase, outcome) in [("greeting", Verdict.Outcome.cancelled), ("RCPT", .cancelled), ("dot", .retry)] {
      peer.obey(#"{"replies": {"\#(phase)": "stall"}}"#)
      let host = try peer.host()
      let start = monotonicSeconds()
      host.stopWhen = { _ in monotonicSeconds() > start + 1 }
      let verdict = host.deliver(SMTPTarget.self, FakeDelivery("x"))
      #expect(verdict.outcome == outcome, "\(phase): \(verdict.message)")
      #expect(verdict.maybeDelivered == (phase == "dot"))
      #expect(verdict.message.contains("has said nothing yet") == (phase == "greeting"))
      #expect(monotonicSeconds() - start < 5 * (Sanitizer.isOn ? 6 : 1))
    }
  }

  @Test func `a server that doesn't answer the goodbye holds nobody up`() throws {
    let peer = try Peer()
    for phase in ["MAIL", "dot"] {
      peer.obey(#"{"replies": {"\#(phase)": "550 no", "QUIT": "stall"}}"#)
      let start = monotonicSeconds()
      #expect(try peer.deliver(FakeDelivery("x")).status == 550)
      #expect(monotonicSeconds() - start < 5 * (Sanitizer.isOn ? 6 : 1))
    }
    peer.obey(#"{"replies": {"QUIT": "stall"}}"#)
    let start = monotonicSeconds()
    #expect(try peer.host().open(SMTPTarget.self).check().outcome == .delivered)
    #expect(try peer.deliver(FakeDelivery("x")).outcome == .delivered)
    #expect(monotonicSeconds() - start < 5 * (Sanitizer.isOn ? 6 : 1))
    #expect(try eventually { try peer.verbs.filter { $0 == "QUIT" }.count == 4 })
  }

  @Test func `an answer that comes after it was given up is not taken for the next mail's`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"dot": ["late:2:250 for the first", "550 for the second"]}}"#)
    let host = try peer.host()
    let session = try host.open(SMTPTarget.self)
    let start = monotonicSeconds()
    host.stopWhen = { _ in monotonicSeconds() > start + 0.5 }
    #expect(session.deliver(FakeDelivery("one")).maybeDelivered)
    host.stopWhen = { _ in false }
    #expect(session.deliver(FakeDelivery("two")).outcome == .refused)
  }

  @Test func `a server that answers without end is given up`() throws {
    let peer = try Peer()
    for phase in ["greeting", "EHLO", "MAIL"] {
      peer.obey(#"{"replies": {"\#(phase)": "flood"}}"#)
      let verdict = try peer.deliver(FakeDelivery("x"))
      #expect(verdict.outcome == .retry, "\(phase)")
      #expect(!verdict.maybeDelivered)
    }
  }

  @Test func `an answer that ends in a bare line feed is read`() throws {
    let peer = try Peer()
    for phase in ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "dot"] {
      let reply = phase == "greeting" ? "220 hi" : phase == "DATA" ? "354 go" : "250 ok"
      peer.obey(#"{"replies": {"\#(phase)": "bare:\#(reply)"}}"#)
      #expect(try peer.deliver(FakeDelivery("x")).outcome == .delivered, "\(phase)")
    }
  }

  @Test func `bytes that turn out wrong break the mail off before its end`() throws {
    let peer = try Peer()
    for bytes in [FakeSource(bytes: [1, 2, 3]), FakeSource(zeros: 200_000)] {
      var delivery = FakeDelivery(bytes)
      delivery.source.isDamaged = true
      let verdict = try peer.deliver(delivery)
      #expect(verdict.outcome == .retry)
      #expect(verdict.reason == .source)
      #expect(!verdict.maybeDelivered)
    }
    #expect(try eventually { try peer.events.filter { $0.event == "end" }.count == 2 })
    #expect(try peer.mails.isEmpty)
  }

  @Test func `a mail that the server says is too large for it is never begun`() throws {
    let peer = try Peer()
    let length = try #require(Self.length(of: 3_000_000))
    peer.obey(#"{"offer": ["SIZE \#(length - 1)"]}"#)
    let verdict = try peer.deliver(Self.large)
    #expect(verdict.outcome == .refused)
    #expect(verdict.reason == .tooLarge)
    #expect(verdict.message.contains("\(length)") && verdict.message.contains("\(length - 1)"))
    #expect(try peer.verbs.filter { $0 != "QUIT" } == ["EHLO"])
    for fits in ["SIZE \(length)", "SIZE 0", "SIZE", "SIZE nonsense", "SIZE 99999999999999999999999"] {
      peer.obey(#"{"offer": ["\#(fits)"]}"#)
      #expect(try peer.deliver(Self.large).outcome == .delivered, "\(fits)")
    }
    #expect(try peer.events.contains { $0.line?.hasSuffix("SIZE=\(length)") == true })
    #expect(try peer.mails.allSatisfy { $0.length == length })
  }

  /// What a mail with so many bytes has, from another mail's length.
  private static func length(of count: Int) -> Int? {
    let peer = try? Peer()
    guard let peer, (try? peer.deliver(FakeDelivery(""))) != nil, let empty = try? peer.mails.first?.length else {
      return nil
    }
    return empty + (count + 2) / 3 * 4 + (count + 56) / 57 * 2
  }

  @Test func `nobody there is a retry`() throws {
    let peer = try Peer()
    for host: FakeValue in ["127.0.0.1", "nobody.invalid", "::1", "[::1]"] {
      let verdict = try peer.deliver(FakeDelivery("x"), [("host", host), ("port", 1)])
      #expect(verdict.outcome == .retry)
      #expect(verdict.reason == .network)
      #expect(!verdict.maybeDelivered)
    }
  }
}
