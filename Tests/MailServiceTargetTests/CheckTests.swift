// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import MailServiceTargetLogic

@Suite struct CheckTests {
  static func check(_ scene: Scene) throws -> Verdict { try scene.host.open(MailServiceTarget.self).check() }

  @Test(arguments: Service.allCases)
  func `a good key is found good, and nothing is sent`(service: Service) throws {
    let scene = try Scene(service)
    let verdict = try Self.check(scene)
    #expect(verdict.outcome == .delivered)
    #expect(verdict.message.hasPrefix("\(service.name) knows the key"))
    #expect(try scene.requests().map(\.method) == ["GET"])
    #expect(try scene.mails().isEmpty)
    #expect(scene.host.statePuts.isEmpty)
  }

  @Test func `a key of Resend that may only send is a good key`() throws {
    let scene = try Scene(.resend, key: "re_send_only")
    #expect(try Self.check(scene).outcome == .delivered)
    #expect(scene.deliver().outcome == .delivered)
  }

  @Test func `a key of SendGrid that may not send, and a server of Postmark that is a sandbox, are told`() throws {
    let refused = try Self.check(Scene(.sendgrid, key: "SG.no_send"))
    #expect(refused.outcome == .needsAttention)
    #expect(refused.reason == .credentials)
    #expect(refused.message.contains("Mail Send"))
    #expect(try Self.check(Scene(.postmark, key: "pm-sandbox")).message.contains("sandbox"))
  }

  @Test(arguments: Service.allCases)
  func `a bad key is told from a busy, a broken and an absent service`(service: Service) throws {
    let bad = try Self.check(Scene(service, key: "not-a-key-at-all"))
    #expect(bad.outcome == .needsAttention)
    #expect(bad.reason == .credentials)
    #expect(!bad.message.contains("not-a-key-at-all"))
    for (status, reason) in [(429, Verdict.Reason.throttled), (500, .receiver), (503, .receiver), (408, .timeout)] {
      let scene = try Scene(service)
      try scene.answer(status, "")
      let verdict = try Self.check(scene)
      #expect(verdict.outcome == .retry, "\(status)")
      #expect(verdict.reason == reason, "\(status)")
    }
    let scene = try Scene(service)
    try scene.answer(200, "<html>hello</html>")
    #expect(try Self.check(scene).outcome == .retry)
    try scene.answer(302, "", ["Location": "https://elsewhere.example/"])
    #expect(try Self.check(scene).outcome == .needsAttention)
    scene.host.settings.set("endpoint", "http://127.0.0.1:1")
    #expect(try Self.check(scene).reason == .network)
  }

  @Test func `a certificate that isn't trusted gets neither key nor mail`() throws {
    // As in a worker: OpenSSL writes to sockets that the other side may have closed.
    signal(SIGPIPE, SIG_IGN)
    let folder = TemporaryFolder.shared.path("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let made = try Command.run(["sh", Repository.path("Tests/Fixtures/servers/make_certificates.sh"), folder])
    try #require(made.status == 0)
    let peer = try Peer(tls: ["\(folder)/good.pem", "\(folder)/good.key"])
    let scene = try Scene(.resend)
    scene.host.settings.set("endpoint", .text("https://127.0.0.1:\(peer.port)/w"))
    for verdict in [scene.deliver(), try Self.check(scene)] {
      #expect(verdict.outcome == .needsAttention)
      #expect(verdict.reason == .tls)
      #expect(verdict.message.contains("certificate is not trusted"))
      #expect(!verdict.message.contains("tls/ca"))
    }
    let seen = try Command.run([
      "curl", "-sS", "--noproxy", "*", "--cacert", "\(folder)/ca.pem", "https://127.0.0.1:\(peer.port)/w/!requests",
    ])
    #expect(seen.output == "[]")
  }
}
