// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

/// A connection serves several mails, and loses or doubles none.
@Suite struct KeptConnectionTests {
  func mail(_ number: Int) -> FakeDelivery {
    var delivery = FakeDelivery("mail \(number)")
    delivery.messageID = "<mail-\(number)@example.org>"
    return delivery
  }

  @Test func `several mails go over one connection, with one login`() throws {
    let peer = try Peer(.starttls)
    peer.obey(#"{"offer": ["STARTTLS"], "offerTLS": ["AUTH PLAIN"], "login": ["u", "secret"]}"#)
    let session = try peer.host([("username", "u")], password: "secret").open(SMTPTarget.self)
    for number in 1...4 { #expect(session.deliver(mail(number)).outcome == .delivered) }
    #expect(try Set(peer.mails.map(\.connection)) == [1])
    #expect(try peer.mails.count == 4)
    #expect(try peer.events.filter { $0.event == "login" }.count == 1)
  }

  @Test(arguments: ["MAIL", "RCPT", "DATA"])
  func `a kept connection that is dead, or whose server has had enough, costs no attempt`(phase: String) throws {
    let peer = try Peer()
    for trouble in ["close", "reset", "text-close:421 4.7.0 too many mails in one connection"] {
      peer.obey(
        #"{"replies": {"\#(phase)": ["\#(phase == "DATA" ? "354" : "250") ok", "\#(trouble)", "\#(phase == "DATA" ? "354" : "250") ok"]}}"#
      )
      let session = try peer.host().open(SMTPTarget.self)
      let before = try peer.mails.count
      #expect(session.deliver(mail(1)).outcome == .delivered)
      let second = session.deliver(mail(2))
      #expect(second.outcome == .delivered, "\(phase) \(trouble): \(second.message)")
      #expect(try peer.mails.count == before + 2)
    }
  }

  @Test func `a refusal on a kept connection is a refusal`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"MAIL": ["250 ok", "550 5.1.0 no", "250 ok"], "RCPT": ["250 ok", "550 5.1.1 who?"]}}"#)
    let session = try peer.host().open(SMTPTarget.self)
    #expect(session.deliver(mail(1)).outcome == .delivered)
    #expect(session.deliver(mail(2)).outcome == .needsAttention)
    #expect(session.deliver(mail(3)).outcome == .refused)
    #expect(try peer.mails.count == 1)
  }

  @Test func `a lost answer on a kept connection is unsure and not sent again by itself`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"dot": ["250 ok", "close", "250 ok"]}}"#)
    let session = try peer.host().open(SMTPTarget.self)
    #expect(session.deliver(mail(1)).outcome == .delivered)
    let second = session.deliver(mail(2))
    #expect(second.outcome == .retry)
    #expect(second.maybeDelivered)
    #expect(try peer.mails.count == 2)
  }

  @Test func `what the server takes is known on a kept connection too`() throws {
    let peer = try Peer()
    peer.obey(#"{"offer": ["SIZE 2000"]}"#)
    let session = try peer.host().open(SMTPTarget.self)
    #expect(session.deliver(mail(1)).outcome == .delivered)
    #expect(session.deliver(FakeDelivery(FakeSource(zeros: 5000))).outcome == .refused)
    // A new connection may say otherwise.
    peer.obey(#"{"offer": ["SIZE 200000"]}"#)
    #expect(session.deliver(FakeDelivery(FakeSource(zeros: 5000))).outcome == .delivered)
    #expect(try peer.verbs.filter { $0 == "MAIL" }.count == 2)
  }
}
