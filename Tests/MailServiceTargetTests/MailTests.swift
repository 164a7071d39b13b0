// SPDX-License-Identifier: Apache-2.0
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

/// What arrives at a service, read by the stand-in as strictly as the services say they read.
@Suite struct MailTests {
  @Test(arguments: Service.allCases)
  func `a mail arrives with its file, its identity and the service's receipt`(service: Service) throws {
    let scene = try Scene(service, ["subject": "Steps", "text": "Here they are."])
    let delivery = FakeDelivery("{\"steps\": 9000}")
    let verdict = scene.deliver(delivery)
    let mail = try scene.onlyMail()
    #expect(verdict.outcome == .delivered)
    #expect(verdict.receipt == mail.id)
    #expect(verdict.status == (service == .sendgrid ? 202 : 200))
    #expect(verdict.message == "\(service.name) took the mail")
    #expect(mail.subject == "Steps")
    #expect(mail.text == "Here they are.")
    #expect(mail.to == ["ada@example.net"])
    #expect(mail.headers["X-Entity-Ref-ID"] == delivery.deliveryID)
    #expect(mail.headers["X-Relay-Test"] == nil)
    #expect(mail.attachments.map(\.name) == ["steps.json"])
    #expect(mail.attachments.map(\.sha256) == [try sha256(Array("{\"steps\": 9000}".utf8))])
    #expect(mail.attachments.allSatisfy { !$0.stuck })
    let request = try #require(try scene.requests().first)
    #expect(request["Content-Length"] == "\(request.received)")
    #expect(!request.chunked)
    #expect(verdict.bytesSent == UInt64(request.received))
    switch service {
    case .resend:
      #expect(request["Idempotency-Key"] == delivery.deliveryID)
      // The service would put its own in its place.
      #expect(mail.headers["Message-ID"] == nil)
    case .sendgrid, .postmark:
      #expect(request["Idempotency-Key"] == nil)
      #expect(mail.headers["Message-ID"] == delivery.messageID)
      #expect(mail.args == ["delivery_id": delivery.deliveryID])
      #expect(mail.headers["X-PM-KeepID"] == (service == .postmark ? "true" : nil))
    }
  }

  @Test(arguments: Service.allCases)
  func `text of any kind comes through as it is`(service: Service) throws {
    let text = "Grüße \"an\" alle\\\r\n\tZeile 2 \u{1}\u{7f}\u{2028} 体重 👩‍👩‍👧 \u{0} Ende"
    let subject = "Gewicht \"heute\" 体重😊 \\ </script>"
    let scene = try Scene(service, ["subject": .text(subject), "text": .text(text)])
    #expect(scene.deliver().outcome == .delivered)
    let mail = try scene.onlyMail()
    #expect(mail.subject == subject)
    #expect(Array(mail.text.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test(arguments: Service.allCases)
  func `a name of any letters is kept where the service doesn't garble it`(service: Service) throws {
    let scene = try Scene(service)
    var delivery = FakeDelivery("a;b")
    delivery.fileName = "Gewichté 体重😊\"; x.csv"
    delivery.mediaType = "text/csv; charset=utf-8"
    #expect(scene.deliver(delivery).outcome == .delivered)
    let mail = try scene.onlyMail()
    let file = try #require(mail.attachments.first)
    #expect(file.name == (service == .sendgrid ? "Gewicht_ _____ x.csv" : delivery.fileName))
    #expect(file.type == (service == .sendgrid ? "application/octet-stream" : "text/csv"))
    #expect(!file.stuck)
    #expect(mail.subject == delivery.fileName)
    #expect(mail.text == "\(delivery.fileName), sent by Steps.")
  }

  @Test(arguments: Service.allCases)
  func `a type that contradicts the name never reaches a service that drops such mails`(service: Service) throws {
    for (name, type) in [
      ("data.txt", "text/csv"), ("noending", "application/pdf"), ("a.custom", "text/x-custom"), ("b.pdf", ""),
      ("c.bin", "multipart/mixed; boundary=x"), ("d.bin", "no type\r\nX: 1"),
    ] {
      let scene = try Scene(service)
      var delivery = FakeDelivery("1")
      (delivery.fileName, delivery.mediaType) = (name, type)
      #expect(scene.deliver(delivery).outcome == .delivered, "\(name)")
      let file = try #require(try scene.onlyMail().attachments.first)
      #expect(!file.stuck, "\(name)")
      #expect(!file.type.contains { ";\r\n ".contains($0) } && file.type.contains("/"))
    }
  }

  @Test(arguments: Service.allCases)
  func `a packed file says so in its name`(service: Service) throws {
    let scene = try Scene(service)
    var delivery = FakeDelivery([0x1f, 0x8b, 0, 1, 2])
    delivery.contentEncoding = "gzip"
    #expect(scene.deliver(delivery).outcome == .delivered)
    let file = try #require(try scene.onlyMail().attachments.first)
    #expect(file.name == "steps.json.gz")
    #expect(["application/gzip", "application/octet-stream"].contains(file.type))
    #expect(service == .resend || file.type == "application/gzip")
  }

  @Test(arguments: Service.allCases)
  func `an empty file is told and not attached, since no service takes one`(service: Service) throws {
    let scene = try Scene(service, ["text": "Today's steps."])
    let verdict = scene.deliver(FakeDelivery(""))
    #expect(verdict.outcome == .delivered)
    let mail = try scene.onlyMail()
    #expect(mail.attachments.isEmpty)
    #expect(mail.text == "Today's steps.\n\nsteps.json is empty (0 bytes), so there is no attachment.")
  }

  @Test(arguments: Service.allCases)
  func `a test is marked`(service: Service) throws {
    let scene = try Scene(service)
    var delivery = FakeDelivery("")
    delivery.isTest = true
    #expect(scene.deliver(delivery).outcome == .delivered)
    let mail = try scene.onlyMail()
    #expect(mail.subject == "[Test] steps.json")
    #expect(mail.headers["X-Relay-Test"] == "1")
  }

  @Test(arguments: Service.allCases)
  func `fifty recipients each get the mail once, with names that need quotes`(service: Service) throws {
    let many = (1...47).map { FakeValue.text("a\($0)@example.net") }
    let scene = try Scene(
      service,
      [
        "from": .text(
          service == .resend ? "Grüße vom Haus <relay@example.org>" : "\"Haus, Grüße (1)\" <relay@example.org>"),
        "to": .list(many + ["\"Lovelace, Ada\" <ada@example.net>", "Ada <ADA@example.net>", "体重 <z@example.net>"]),
      ])
    #expect(scene.deliver().outcome == .delivered)
    #expect(try scene.onlyMail().to.count == 49)
    #expect(try scene.onlyMail().to.suffix(2) == ["ada@example.net", "z@example.net"])
  }

  @Test func `what Resend doesn't send is refused before anything is sent`() throws {
    for name in ["setup.EXE", "page.js", "data.mat", ".tmp"] {
      let scene = try Scene(.resend)
      var delivery = FakeDelivery("1")
      delivery.fileName = name
      let verdict = scene.deliver(delivery)
      #expect(verdict.outcome == .refused, "\(name)")
      #expect(verdict.reason == .content)
      #expect(verdict.message.contains("Resend sends no files that end in"))
      #expect(try scene.requests().isEmpty)
      // Packed, it has another ending.
      delivery.contentEncoding = "gzip"
      #expect(scene.deliver(delivery).outcome == .delivered)
    }
  }

  @Test(arguments: Service.allCases)
  func `a mail is the same bytes at each attempt`(service: Service) throws {
    let scene = try Scene(service, ["text": "x"])
    var delivery = FakeDelivery((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try scene.next(#"{"cut": "before"}"#, #"{"answer": [503, "", {}]}"#)
    for (attempt, read) in [(1, 65_536), (2, 7), (3, 1000)] {
      scene.host.largestRead = read
      delivery.attempt = UInt32(attempt)
      #expect((scene.deliver(delivery).outcome == .delivered) == (attempt == 3))
    }
    #expect(Set(try scene.requests().map(\.sha256)).count == 1)
    #expect(Set(try scene.requests().map { $0["Idempotency-Key"] }).count == 1)
  }
}
