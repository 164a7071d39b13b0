// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

/// Every reply at every phase, from a server that gives it.
@Suite struct ReplyTests {
  /// Written down apart from the code's own table.
  static func expected(_ phase: String, _ code: Int) -> Verdict.Outcome {
    if (400...499).contains(code) { return .retry }
    switch phase {
    case "greeting": return .retry
    case "EHLO", "STARTTLS", "AUTH": return .needsAttention
    case "MAIL": return code == 552 ? .refused : .needsAttention
    default: return code == 530 ? .needsAttention : .refused
    }
  }

  @Test(arguments: ["greeting", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "dot"])
  func `every code at every phase has its verdict, and nothing is delivered`(phase: String) throws {
    let peer = try Peer(.starttls)
    for code in [
      421, 432, 450, 451, 452, 454, 455, 500, 501, 502, 503, 504, 521, 530, 534, 535, 538, 541, 550, 551, 552, 553, 554,
      555, 556,
    ] {
      peer.obey(
        #"{"offer": ["STARTTLS"], "offerTLS": ["AUTH PLAIN"], "login": ["u", "secret"], "replies": {"\#(phase)": "\#(code) because"}}"#
      )
      let verdict = try peer.deliver(FakeDelivery("x"), [("username", "u")], password: "secret")
      #expect(verdict.outcome == Self.expected(phase, code), "\(phase) \(code): \(verdict.message)")
      #expect(verdict.status == Int32(code), "\(phase) \(code)")
      #expect(verdict.message.contains("\(code) because"), "\(phase) \(code): \(verdict.message)")
      #expect(!verdict.maybeDelivered)
    }
    #expect(try peer.mails.isEmpty == (phase != "dot"))
  }

  @Test func `a greeting that says no needs attention the third time`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"greeting": "554 no"}}"#)
    var delivery = FakeDelivery("x")
    for (attempt, outcome) in [(1, Verdict.Outcome.retry), (2, .retry), (3, .needsAttention)] {
      delivery.attempt = UInt32(attempt)
      #expect(try peer.deliver(delivery).outcome == outcome)
    }
  }

  @Test func `any 2xx after the dot is delivered`() throws {
    let peer = try Peer()
    for reply in ["250 ok", "250-one\\r\\n250 two", "251 elsewhere", "252 maybe", "250", "299 fine"] {
      peer.obey(#"{"replies": {"dot": "\#(reply)"}}"#)
      let verdict = try peer.deliver()
      #expect(verdict.outcome == .delivered, "\(reply): \(verdict.message)")
    }
    #expect(try peer.mails.count == 6)
  }

  @Test func `enhanced codes and words say more than the number`() throws {
    let peer = try Peer()
    let cases: [(String, String, Verdict.Outcome, Verdict.Reason)] = [
      ("RCPT", "550 5.7.1 relaying denied", .needsAttention, .settings),
      ("RCPT", "550 relay not permitted", .needsAttention, .settings),
      ("RCPT", "550 5.1.1 who?", .refused, .notFound), ("RCPT", "552 5.2.2 full", .refused, .receiverFull),
      ("RCPT", "452 4.2.2 full", .retry, .receiverFull), ("dot", "552 5.3.4 too big", .refused, .tooLarge),
      ("dot", "550 5.7.1 spam", .refused, .content), ("dot", "550 5.7.8 log in", .needsAttention, .credentials),
      ("MAIL", "550 5.7.8 log in", .needsAttention, .credentials), ("MAIL", "451 4.7.0 slowly", .retry, .throttled),
      ("DATA", "554 5.5.1 no valid recipients", .refused, .content), ("MAIL", "552 5.3.4 too big", .refused, .tooLarge),
    ]
    for (phase, reply, outcome, reason) in cases {
      peer.obey(#"{"replies": {"\#(phase)": "\#(reply)"}}"#)
      let verdict = try peer.deliver()
      #expect(verdict.outcome == outcome, "\(phase) \(reply): \(verdict.message)")
      #expect(verdict.reason == reason, "\(phase) \(reply): \(verdict.reason)")
    }
  }

  @Test func `a server that puts strangers off is asked again after five minutes and gets the same mail`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"RCPT": ["450 4.7.1 greylisted, try later", "250 ok"]}}"#)
    let host = try peer.host()
    let first = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(first.outcome == .retry)
    #expect(first.retryAfter == .seconds(300))
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(try peer.mails.count == 1)
  }
}
