// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

/// Nothing of a mail, and no password, goes where it must not.
@Suite struct SecurityTests {
  let small = FakeDelivery("x")

  @Test func `a login goes over an encrypted connection, looked for only there`() throws {
    let peer = try Peer(.starttls)
    for mechanism in ["PLAIN", "LOGIN", "DIGEST-MD5 CRAM-MD5 NTLM LOGIN PLAIN"] {
      peer.obey(#"{"offer": ["STARTTLS"], "offerTLS": ["AUTH \#(mechanism)"], "login": ["u", "secret"]}"#)
      let verdict = try peer.deliver(small, [("username", "u")], password: "secret")
      #expect(verdict.outcome == .delivered, "\(mechanism): \(verdict.message)")
    }
    #expect(try peer.events.filter { $0.event == "login" }.allSatisfy { $0.good == true && $0.encrypted == true })
    #expect(try peer.mails.count == 3 && peer.mails.allSatisfy { $0.encrypted == true })
  }

  @Test func `a server without STARTTLS is told nothing after EHLO`() throws {
    let peer = try Peer(.starttls)
    peer.obey(#"{"offer": ["AUTH PLAIN LOGIN", "SIZE 1000000"], "login": ["u", "secret"]}"#)
    let verdict = try peer.deliver(small, [("username", "u")], password: "secret")
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .tls)
    #expect(verdict.message.contains("no STARTTLS"))
    #expect(try peer.verbs.filter { $0 != "QUIT" } == ["EHLO"])
  }

  @Test func `a server that refuses EHLO is not spoken to in the old way without encryption`() throws {
    let peer = try Peer(.starttls)
    peer.obey(#"{"replies": {"EHLO": "502 what?"}}"#)
    #expect(try peer.deliver(small).outcome == .needsAttention)
    #expect(try peer.verbs.filter { $0 != "QUIT" } == ["EHLO"])
  }

  @Test func `STARTTLS that is offered and then refused sends nothing`() throws {
    let peer = try Peer(.starttls)
    for (reply, outcome) in [("454 not now", Verdict.Outcome.retry), ("502 no", .needsAttention)] {
      peer.obey(
        #"{"offer": ["STARTTLS", "AUTH PLAIN"], "login": ["u", "secret"], "replies": {"STARTTLS": "\#(reply)"}}"#)
      #expect(try peer.deliver(small, [("username", "u")], password: "secret").outcome == outcome)
    }
    #expect(try Set(peer.verbs).isSubset(of: ["EHLO", "STARTTLS", "QUIT"]))
  }

  @Test func `what is injected in clear behind the 220 of STARTTLS is not taken`() throws {
    let peer = try Peer(.starttls)
    peer.obey(
      #"{"offer": ["STARTTLS"], "inject": "250-evil\r\n250 AUTH PLAIN\r\n235 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n250 queued\r\n"}"#
    )
    let verdict = try peer.deliver(small)
    #expect(verdict.outcome == .retry)
    #expect(!verdict.maybeDelivered)
    #expect(try Set(peer.verbs).isSubset(of: ["EHLO", "STARTTLS", "QUIT"]))
    #expect(try peer.mails.isEmpty)
  }

  @Test func `a password and no login offered means that nothing is said after EHLO`() throws {
    for (kind, offers) in [(Peer.Kind.plain, 1), (.starttls, 2), (.tls, 1)] {
      let peer = try Peer(kind)
      for offer in [
        "[]", #"["AUTH=LOGIN PLAIN"]"#, #"["AUTH"]"#, #"["auth plain"]"#, #"["AUTH plain"]"#,
        #"["AUTH CRAM-MD5 XOAUTH2"]"#,
      ] {
        peer.obey(#"{"offer": ["STARTTLS"], "offerTLS": \#(offer)}"#)
        if kind == .plain { peer.obey(#"{"offer": \#(offer)}"#) }
        let before = try peer.verbs.count
        let verdict = try peer.deliver(small, [("username", "u"), ("allowPasswordInClear", true)], password: "secret")
        #expect(verdict.outcome == .needsAttention, "\(offer)")
        #expect(verdict.reason == .credentials, "\(offer): \(verdict.message)")
        #expect(verdict.message.contains("password"))
        let said = try peer.verbs.dropFirst(before).filter { $0 != "QUIT" && $0 != "STARTTLS" }
        #expect(said == Array(repeating: "EHLO", count: offers), "\(offer): \(said)")
      }
      #expect(try peer.mails.isEmpty)
    }
  }

  @Test func `a server that only speaks the old way gets no mail when a password is set`() throws {
    let peer = try Peer()
    peer.obey(#"{"replies": {"EHLO": "502 what?"}}"#)
    let verdict = try peer.deliver(small, [("username", "u"), ("allowPasswordInClear", true)], password: "secret")
    #expect(verdict.outcome == .needsAttention)
    #expect(try Set(peer.verbs).isSubset(of: ["EHLO", "HELO", "QUIT"]))
    // Without one it does.
    #expect(try peer.deliver(small).outcome == .delivered)
  }

  @Test func `a wrong password is tried once and never told`() throws {
    let peer = try Peer(.starttls)
    peer.obey(#"{"offer": ["STARTTLS"], "offerTLS": ["AUTH PLAIN LOGIN"], "login": ["u", "right"]}"#)
    let host = try peer.host([("username", "u")], password: "swordfish")
    let verdict = host.deliver(SMTPTarget.self, small)
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.reason == .credentials)
    #expect(verdict.status == 535)
    #expect(try peer.events.filter { $0.event == "login" }.count == 1)
    #expect(!verdict.message.contains("swordfish"))
    #expect(!host.logged.contains { $0.line.contains("swordfish") || $0.line.contains("c3dvcmRmaXNo") })
  }

  @Test func `a connection that is not encrypted is warned of, and carries no password unless that is allowed`() throws
  {
    let peer = try Peer()
    peer.obey(#"{"offer": ["AUTH PLAIN"], "login": ["u", "secret"]}"#)
    let host = try peer.host([("username", "u")], password: "secret")
    #expect(host.deliver(SMTPTarget.self, small).outcome == .needsAttention)
    #expect(try peer.events.isEmpty)
    host.settings.set("allowPasswordInClear", true)
    #expect(host.deliver(SMTPTarget.self, small).outcome == .delivered)
    #expect(host.logged.contains { $0.level == 2 && $0.line.contains("without encryption") })
  }

  @Test func `certificates that expired, are for another host or from an unknown authority need attention`() throws {
    for kind in [Peer.Kind.starttls, .tls] {
      for (certificate, knowsAuthority) in [("expired", true), ("other", true), ("good", false)] {
        let peer = try Peer(kind, certificate: certificate)
        peer.obey(#"{"offer": ["STARTTLS"]}"#)
        let verdict = try peer.deliver(small, knowsAuthority ? [] : [("tls", [:])])
        #expect(verdict.outcome == .needsAttention, "\(certificate) \(kind)")
        #expect(verdict.reason == .tls)
        #expect(verdict.message.contains("certificate"))
        #expect(try peer.mails.isEmpty)
      }
      let peer = try Peer(kind)
      peer.obey(#"{"offer": ["STARTTLS"]}"#)
      #expect(try peer.deliver(small).outcome == .delivered)
    }
  }

  @Test func `the wrong kind of encryption for a port is a retry that says so`() throws {
    let plain = try Peer()
    let asTLS = try plain.deliver(small, [("security", "tls")])
    #expect(asTLS.outcome == .retry)
    #expect(asTLS.message.contains("\"security\""))
  }
}
