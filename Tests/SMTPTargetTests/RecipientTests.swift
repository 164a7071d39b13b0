// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

/// Who has it, who gets it again, who never will.
@Suite struct RecipientTests {
  let peer: Peer
  let three: [(String, FakeValue)] = [("to", ["a@example.org", "b@example.org", "c@example.org"])]

  init() throws {
    peer = try Peer()
  }

  func recipients() throws -> [[String]] { try peer.mails.map { $0.recipients ?? [] } }

  @Test func `of three recipients one has it, one is refused and one gets it alone later, the same mail`() throws {
    peer.obey(
      #"{"addresses": {"b@example.org": "550 5.1.1 no such user", "c@example.org": "450 4.2.0 greylisted"}}"#)
    let host = try peer.host(three)
    let first = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(first.outcome == .retry)
    #expect(first.message.contains("1 of 3 have it"), "\(first.message)")
    #expect(first.message.contains("c@example.org"))
    #expect(first.retryAfter == .seconds(300))
    #expect(!first.maybeDelivered)
    // Nothing changed: a and b are left alone.
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .retry)
    #expect(try recipients() == [["a@example.org"]])
    peer.obey("{}")
    let last = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(last.outcome == .delivered)
    #expect(last.message.contains("2 of 3 have it"), "\(last.message)")
    #expect(last.message.contains("b@example.org (550 5.1.1 no such user)"))
    #expect(host.logged.contains { $0.level == 2 && $0.line.contains("b@example.org") })
    #expect(try recipients() == [["a@example.org"], ["c@example.org"]])
    #expect(try Set(peer.mails.map(\.sha256)).count == 1)
  }

  @Test func `when nobody is taken it is refused, with everyone's reason`() throws {
    peer.obey(
      #"{"addresses": {"a@example.org": "550 5.1.1 gone", "b@example.org": "553 odd", "c@example.org": "551 moved"}}"#)
    let verdict = try peer.deliver(FakeDelivery("x"), three)
    #expect(verdict.outcome == .refused)
    #expect(verdict.status == 551)
    for words in ["a@example.org (550 5.1.1 gone)", "b@example.org (553 odd)", "c@example.org (551 moved)"] {
      #expect(verdict.message.contains(words), "\(verdict.message)")
    }
    #expect(try peer.mails.isEmpty)
  }

  @Test func `a recipient that needs attention doesn't hold back the others, and is corrected without a repeat`() throws
  {
    peer.obey(#"{"addresses": {"b@example.org": "554 5.7.1 relay access denied"}}"#)
    let host = try peer.host(three)
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .needsAttention)
    host.settings.set("to", ["a@example.org", "new@example.org", "c@example.org"])
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(try recipients() == [["a@example.org", "c@example.org"], ["new@example.org"]])
    // Removed instead: nobody is left, and nobody is asked.
    let other = try peer.host(three)
    #expect(other.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .needsAttention)
    other.settings.set("to", ["a@example.org", "c@example.org"])
    let count = try peer.events.count
    #expect(other.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(try peer.events.filter { $0.event == "connect" }.count == Set(peer.events.map(\.connection)).count)
    #expect(try peer.events.dropFirst(count).filter { $0.event != "end" && $0.verb != "QUIT" }.isEmpty)
  }

  @Test func `a mail that nobody answers for may have reached those who were taken, and is sent to all of them again`()
    throws
  {
    peer.obey(
      #"{"addresses": {"b@example.org": "550 5.1.1 no"}, "replies": {"dot": ["close", "250 ok"]}}"#)
    let host = try peer.host(three)
    let first = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(first.outcome == .retry)
    #expect(first.maybeDelivered)
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(try recipients() == [["a@example.org", "c@example.org"], ["a@example.org", "c@example.org"]])
    #expect(try Set(peer.mails.map(\.sha256)).count == 1)
  }

  @Test func `421 in the middle of the recipients ends it, and all get it later`() throws {
    peer.obey(#"{"replies": {"RCPT": ["250 ok", "421 4.7.0 too many", "250 ok"]}}"#)
    let host = try peer.host(three)
    let first = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(first.outcome == .retry)
    #expect(first.reason == .throttled)
    #expect(host.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .delivered)
    #expect(try recipients() == [["a@example.org", "b@example.org", "c@example.org"]])
  }

  @Test func `a connection that ends between two recipients says nothing about either`() throws {
    for cut in ["close", "reset", "garbage"] {
      peer.obey(#"{"replies": {"RCPT": ["550 5.1.1 no", "\#(cut)"]}}"#)
      let host = try peer.host([("to", ["a@example.org", "b@example.org"])])
      let first = host.deliver(SMTPTarget.self, FakeDelivery("x"))
      #expect(first.outcome == .retry, "\(cut): \(first.message)")
      peer.obey("{}")
      let last = host.deliver(SMTPTarget.self, FakeDelivery("x"))
      #expect(last.outcome == .delivered)
      #expect(last.message.contains("a@example.org (550"))
      #expect(try recipients().last == ["b@example.org"])
    }
  }

  @Test func `blind copies are told to the server and stand nowhere in the mail`() throws {
    let verdict = try peer.deliver(
      FakeDelivery("x"),
      [("to", "a@example.org"), ("cc", ["C <c@example.org>", "a@example.org"]), ("bcc", ["hidden@example.org"])])
    #expect(verdict.outcome == .delivered)
    let mail = try #require(try peer.mails.first)
    #expect(mail.recipients == ["a@example.org", "c@example.org", "hidden@example.org"])
    let text = String(decoding: try #require(mail.body), as: UTF8.self)
    #expect(!text.contains("hidden"))
    #expect(text.contains("Cc: C <c@example.org>,\r\n a@example.org\r\n"))
  }

  @Test func `a ledger that can't be kept changes nothing but that it is tried again`() throws {
    peer.obey(#"{"addresses": {"c@example.org": "450 later"}}"#)
    let host = try peer.host(three)
    host.beforeRead = { _ in host.stateFails = true }
    let verdict = host.deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(verdict.outcome == .retry)
    #expect(host.deliveryState.isEmpty)
  }
}
