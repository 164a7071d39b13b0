// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

@Suite(.serialized) struct LargeMailTests {
  @Test func `a file of 24 MB is encoded in constant memory and arrives whole`() throws {
    let length: UInt64 = 24_000_001
    var delivery = FakeDelivery(FakeSource(zeros: length))
    delivery.fileName = "zeros.bin"
    var scene = try Scene(.resend)
    var verdict = scene.deliver(delivery)
    let growth = try ResidentMemory.leastGrowth(under: 24_000) { look in
      scene = try Scene(.resend)
      scene.host.beforeRead = { offset in if offset % (1 << 20) < 65_536 { look() } }
      verdict = scene.deliver(delivery)
    }
    #expect(verdict.outcome == .delivered)
    #expect(growth < 24_000 || Sanitizer.isOn, "\(growth) KB more")
    let request = try #require(try scene.requests().first)
    #expect(request["Content-Length"] == "\(verdict.bytesSent)")
    #expect(!request.chunked)
    #expect(verdict.bytesSent > length / 3 * 4)
    let file = try #require(try scene.onlyMail().attachments.first)
    #expect(file.length == Int(length))
    let expected = try Command.run(["sh", "-c", "head -c \(length) /dev/zero | sha256sum"])
    #expect(expected.output.hasPrefix(file.sha256))
  }

  @Test(arguments: Service.allCases)
  func `the largest file that is let through fits into what the service takes`(service: Service) throws {
    let scene = try Scene(service, ["text": .text(String(repeating: "ä", count: 20_000))])
    var delivery = FakeDelivery(FakeSource(zeros: service.largestFile))
    delivery.fileName = "zeros.bin"
    #expect(scene.deliver(delivery).outcome == .delivered)
    #expect(try scene.onlyMail().attachments.map(\.length) == [Int(service.largestFile)])
  }

  @Test(arguments: Service.allCases)
  func `a byte more is refused without a connection, with the limit and why`(service: Service) throws {
    let listener = try SilentListener()
    let scene = try Scene(service)
    scene.host.settings.set("endpoint", .text("http://127.0.0.1:\(listener.port)"))
    for length in [service.largestFile + 1, 40_000_000, .max] {
      let verdict = scene.deliver(FakeDelivery(FakeSource(zeros: length)))
      #expect(verdict.outcome == .refused)
      #expect(verdict.reason == .tooLarge)
      #expect(verdict.message.contains("\(service.largestFile / 1_000_000) MB is the most"))
      #expect(verdict.message.contains("steps.json has"))
      #expect(verdict.message.contains("or use \"service\" resend") == (service != .resend))
    }
    #expect(!listener.hasCaller)
    #expect(scene.host.bytesRead == 0)
    // Five of these don't mean that the settings are wrong.
    #expect(scene.host.pipelineState.isEmpty)
  }

  @Test func `a mail whose text makes it too large is refused without a connection`() throws {
    let listener = try SilentListener()
    let scene = try Scene(.postmark, ["text": .text(String(repeating: "\n", count: 400_000))])
    scene.host.settings.set("endpoint", .text("http://127.0.0.1:\(listener.port)"))
    let verdict = scene.deliver(FakeDelivery(FakeSource(zeros: 7_000_000)))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains("shorten \"text\""))
    #expect(!listener.hasCaller)
  }

  @Test(arguments: Service.allCases)
  func `bytes that turn out damaged never make a whole request`(service: Service) throws {
    for length: UInt64 in [1, 2, 3, 65_536, 3_000_000] {
      let scene = try Scene(service)
      var delivery = FakeDelivery(FakeSource(zeros: length))
      delivery.source.isDamaged = true
      let verdict = scene.deliver(delivery)
      #expect(verdict.outcome == .retry)
      #expect(verdict.reason == .source)
      #expect(!verdict.maybeDelivered)
      let isRead = try eventually { try scene.requests().allSatisfy { !$0.sha256.isEmpty } }
      #expect(isRead)
      #expect(try scene.requests().allSatisfy { $0.received < $0.length })
      #expect(try scene.mails().isEmpty)
      #expect(scene.host.deliveryState.isEmpty)
    }
  }

  @Test func `an early 413 while sending is a refusal, and an early success no proof`() throws {
    let scene = try Scene(.sendgrid)
    try scene.next(#"{"early": 413}"#, #"{"early": 202}"#)
    let delivery = FakeDelivery(FakeSource(zeros: 8_000_000))
    let refused = scene.deliver(delivery)
    #expect(refused.outcome == .refused)
    #expect(refused.reason == .tooLarge)
    #expect(refused.bytesSent < 8_000_000)
    #expect(scene.deliver(delivery).outcome == .retry)
  }

  @Test func `whoever takes no expectations gets the mail without asking`() throws {
    let scene = try Scene(.postmark)
    try scene.next(#"{"early": 417}"#)
    #expect(scene.deliver(FakeDelivery(FakeSource(zeros: 3_000_000))).outcome == .delivered)
    #expect(try scene.requests().map { $0["Expect"] } == ["100-continue", nil])
  }
}
