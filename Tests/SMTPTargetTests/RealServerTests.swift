// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@testable import SMTPTargetLogic

private func settings(_ port: Int, _ more: [(String, FakeValue)]) throws -> FakeValue {
  var settings: FakeValue = [
    "host": "127.0.0.1", "port": .integer(Int64(port)), "from": "Relay Host <relay@example.com>", "to": "a@example.org",
    "tls": ["ca": .text(try Certificates.shared.get().file("ca.pem"))],
  ]
  for (name, value) in more { settings.set(name, value) }
  return settings
}

/// aiosmtpd with STARTTLS, a login and a limit.
@Suite struct AiosmtpdTests {
  let folder: String
  let server: Child
  let port: Int

  init() throws {
    folder = TemporaryFolder.shared.path("aiosmtpd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let made = try Certificates.shared.get()
    server = try Child([
      Repository.python, Repository.path("Tests/Fixtures/servers/aiosmtpd_peer.py"), folder, made.file("good.pem"),
      made.file("good.key"),
    ])
    port = try #require(Int(server.line()))
  }

  func host(_ password: String = "right", _ more: [(String, FakeValue)] = []) throws -> FakeHost {
    FakeHost(settings: try settings(port, [("username", "u")] + more), secrets: ["password": password])
  }

  @Test func `24 MB go out in constant memory and arrive whole`() throws {
    let length: UInt64 = 24 << 20
    let host = try host()
    _ = host.deliver(SMTPTarget.self, FakeDelivery("warm"))
    let verdict = host.deliver(SMTPTarget.self, FakeDelivery(FakeSource(zeros: length)))
    #expect(verdict.outcome == .delivered, "\(verdict.message)")
    #expect(verdict.message == "2.0.0 kept as 2")
    #expect(host.progressed.last?.total == verdict.bytesSent)
    let mail = try ReadMail.from("\(folder)/2.eml")
    let zeros = try Child.run(["sh", "-c", "head -c \(length) /dev/zero | sha256sum"]).output
    #expect(mail.parts.first.map { zeros.hasPrefix($0.sha256) } == true)
    #expect(mail.defects == [])
    let envelope = try String(contentsOfFile: "\(folder)/2.json", encoding: .utf8)
    #expect(envelope == #"{"from": "relay@example.com", "to": ["a@example.org"], "tls": true, "user": "u"}"#)
    let growth = ResidentMemory.leastGrowth(under: 20_000) { look in
      host.beforeRead = { offset in if offset % (1 << 20) < 65_536 { look() } }
      #expect(host.deliver(SMTPTarget.self, FakeDelivery(FakeSource(zeros: length))).outcome == .delivered)
    }
    #expect(growth < 20_000 || Sanitizer.isOn, "\(growth) KB more")
  }

  @Test func `its limit, a wrong password and a check are told`() throws {
    let tooLarge = try host().deliver(SMTPTarget.self, FakeDelivery(FakeSource(zeros: 31 << 20)))
    #expect(tooLarge.outcome == .refused)
    #expect(tooLarge.reason == .tooLarge)
    let wrong = try host("wrong").deliver(SMTPTarget.self, FakeDelivery("x"))
    #expect(wrong.outcome == .needsAttention)
    #expect(wrong.reason == .credentials)
    let checked = try host().open(SMTPTarget.self).check()
    #expect(checked.outcome == .delivered)
    #expect(checked.message.contains("41943040 bytes"), "\(checked.message)")
    let bare = FakeHost(settings: try settings(port, []))
    #expect(bare.deliver(SMTPTarget.self, FakeDelivery("x")).outcome == .needsAttention)
    #expect(!File.exists("\(folder)/1.eml"))
  }
}

/// Postfix, which many receivers are.
@Suite(
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/postfix") && getuid() == 0,
    "Postfix is not installed, or this isn't root"))
struct PostfixTests {
  let server: Child
  let port: Int
  let folder: String

  init() throws {
    let made = try Certificates.shared.get()
    server = try Child([
      "python3", Repository.path("Tests/Fixtures/servers/postfix_peer.py"), made.file("good.pem"),
      made.file("good.key"),
    ])
    port = try #require(Int(server.line()))
    folder = server.line()
  }

  func deliver(_ delivery: FakeDelivery, _ more: [(String, FakeValue)] = []) throws -> (Verdict, FakeHost) {
    let host = FakeHost(settings: try settings(port, more))
    return (host.deliver(SMTPTarget.self, delivery), host)
  }

  /// What is in a mailbox, once so many mails are.
  func mails(_ box: String, _ count: Int) throws -> [String] {
    var names: [String] = []
    #expect(
      try eventually(within: 30) {
        let new = "\(folder)/mail/\(box)/new"
        names = File.exists(new) ? try FileManager.default.contentsOfDirectory(atPath: new) : []
        return names.count >= count
      })
    #expect(names.count == count)
    return names.map { "\(folder)/mail/\(box)/new/\($0)" }
  }

  @Test func `mail arrives in the mailbox, whatever the file's name is`() throws {
    var delivery = FakeDelivery((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    delivery.fileName = #"Gewichté 体重😊".csv"#
    let (verdict, _) = try deliver(delivery, [("subject", "Gewichte für dich"), ("text", "Grüße")])
    #expect(verdict.outcome == .delivered, "\(verdict.message)")
    #expect(verdict.receipt?.isEmpty == false)
    let mail = try ReadMail.from(try #require(try mails("a", 1).first))
    #expect(mail.subject == "Gewichte für dich")
    #expect(mail.messageID == delivery.messageID)
    #expect(mail.parts.last?.name == delivery.fileName)
    #expect(try mail.parts.last?.sha256 == sha256((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }))
    #expect(mail.defects == [])
  }

  @Test func `unknown recipients, relaying and what it refuses have their verdicts`() throws {
    let (mixed, host) = try deliver(
      FakeDelivery("x"), [("to", ["nobody@example.org", "b@example.org", "Jürgen <jürgen@example.org>"])])
    #expect(mixed.outcome == .delivered, "\(mixed.message)")
    #expect(mixed.message.contains("nobody@example.org (550 5.1.1"))
    #expect(host.logged.contains { $0.line.contains("nobody@example.org") })
    #expect(try mails("b", 1).count == 1)
    #expect(try mails("j", 1).count == 1)
    let (unknown, _) = try deliver(FakeDelivery("x"), [("to", "nobody@example.org")])
    #expect(unknown.outcome == .refused && unknown.status == 550, "\(unknown.message)")
    let (relayed, _) = try deliver(FakeDelivery("x"), [("to", "a@elsewhere.example")])
    #expect(relayed.outcome == .needsAttention, "\(relayed.message)")
    let (refused, _) = try deliver(FakeDelivery("x"), [("subject", "refuse this")])
    #expect(refused.outcome == .refused && refused.status == 550, "\(refused.message)")
    let (large, _) = try deliver(FakeDelivery(FakeSource(zeros: 1_600_000)))
    #expect(large.outcome == .refused && large.reason == .tooLarge, "\(large.message)")
    let (clear, _) = try deliver(FakeDelivery("x"), [("security", "none"), ("to", "b@example.org")])
    #expect(clear.outcome == .delivered)
    #expect(try mails("b", 2).count == 2)
  }
}
