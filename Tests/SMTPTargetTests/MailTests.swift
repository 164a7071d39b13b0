// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

/// What a mail looks like to a reader that is not ours.
@Suite struct MailTests {
  let peer: Peer

  init() throws {
    peer = try Peer()
  }

  func read(_ delivery: FakeDelivery, _ more: [(String, FakeValue)] = []) throws -> (mail: ReadMail, raw: String) {
    let verdict = try peer.deliver(delivery, more)
    try #require(verdict.outcome == .delivered, "\(verdict.message)")
    let event = try #require(try peer.mails.last)
    #expect(event.bare == false)
    let body = try #require(event.body)
    let mail = try ReadMail.from(body)
    #expect(mail.defects == [])
    #expect(mail.ascii)
    #expect(mail.longest <= 998)
    return (mail, String(decoding: body, as: UTF8.self))
  }

  @Test func `names, subjects and texts arrive as they are`() throws {
    let long = "名" + String(repeating: "é", count: 120) + "体重.json"
    let names = [
      #"Gewichté 体重😊".csv"#, "plain.csv", "with space.csv", #"back\slash.csv"#, "semi;colon.csv", "100%.csv",
      "=?UTF-8?B?eA==?=.csv",
      "'single'.csv", "noending", ".hidden", "a.", String(long.prefix(127)),
      String(repeating: "n", count: 251) + ".csv",
      String(repeating: "体", count: 83) + ".txt", "e\u{301}.csv", "\u{202e}gpj.exe",
    ]
    #expect(names[11].utf8.count <= 255 && names[12].utf8.count == 255 && names[13].utf8.count == 253)
    for name in names {
      var delivery = FakeDelivery("weight,72\n")
      delivery.fileName = name
      let (mail, _) = try read(
        delivery, [("subject", .text("Für dich: \(name)")), ("text", "Hallo,\nhier ist die Datei.\r\n\r\nGrüße 😊")])
      #expect(mail.subject == "Für dich: \(name)", "\(name)")
      #expect(mail.parts.count == 2)
      #expect(mail.parts.first?.text == "Hallo,\r\nhier ist die Datei.\r\n\r\nGrüße 😊\r\n")
      #expect(mail.parts.first?.charset == "utf-8")
      let part = try #require(mail.parts.last)
      #expect(part.name == name)
      #expect(part.disposition == "attachment")
      #expect(try part.sha256 == sha256(Array("weight,72\n".utf8)))
      let short = try #require(part.short)
      if name.utf8.count <= 45 {
        #expect(short == name)
      } else {
        #expect(short.utf8.count <= 45 && short.hasSuffix(name.suffix(4)), "\(short)")
      }
    }
  }

  @Test func `addresses with names of all kinds arrive as they are`() throws {
    let to: FakeValue = [
      "a@example.org", "Plain Name <b@example.org>", "\"Doe, \\\"J\\\" Jr.\" <c@example.org>",
      "Jürgen Müßig 😊 <d@bücher.example>",
      "dots.and.commas, Inc. <e@example.org>",
      .text(String(repeating: "Sehr langer Näme ", count: 12) + "<f@example.org>"),
      "<g+tag@example.org>", "=?x?= <h@example.org>",
    ]
    let (mail, raw) = try read(
      FakeDelivery("x"), [("to", to), ("from", "\"Ärzte \\\"im\\\" Dienst\" <relay@Bücher.example>")])
    #expect(
      mail.to.map { $0[1] } == ["a", "b", "c"].map { "\($0)@example.org" } + ["d@xn--bcher-kva.example"]
        + ["e", "f", "g+tag", "h"].map { "\($0)@example.org" })
    // This reader leaves the space between two encoded words of a name standing, which RFC 2047 (section 6.2) says is none.
    #expect(
      mail.to.map { $0[0].replacing(" ", with: "") } == [
        "", "PlainName", "Doe,\"J\"Jr.", "JürgenMüßig😊", "dots.and.commas,Inc.",
        String(repeating: "SehrlangerNäme", count: 12),
        "", "=?x?=",
      ])
    #expect(mail.from == [["Ärzte \"im\" Dienst", "relay@xn--bcher-kva.example"]])
    #expect(try peer.events.contains { $0.line == "MAIL FROM:<relay@xn--bcher-kva.example>" })
    #expect(try peer.events.contains { $0.line == "EHLO xn--bcher-kva.example" })
    #expect(try peer.mails.last?.recipients?[3] == "d@xn--bcher-kva.example")
    for line in raw.components(separatedBy: "\r\n") where line.contains("=?UTF-8") && !line.contains("name=") {
      #expect(line.utf8.count <= 110, "\(line)")
    }
  }

  @Test(arguments: [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 58_367, 58_368, 58_369, 300_000])
  func `files of any length arrive byte for byte, the same at each attempt and however they are read`(length: Int)
    throws
  {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    let host = try peer.host()
    for most in [65_536, 1000, 1] where length / most < 5000 {
      host.largestRead = most
      #expect(host.deliver(SMTPTarget.self, FakeDelivery(bytes)).outcome == .delivered)
    }
    let mails = try peer.mails
    #expect(Set(mails.map(\.sha256)).count == 1)
    let mail = try ReadMail.from(try #require(mails.first?.body))
    #expect(mail.parts.count == 1)
    #expect(mail.parts.first?.length == length)
    #expect(try mail.parts.first?.sha256 == sha256(bytes))
    #expect(mail.defects == [])
    #expect(mails.allSatisfy { $0.bare == false })
  }

  @Test func `identities come from the artifact, not from the clock or the attempt`() throws {
    var delivery = FakeDelivery("x")
    delivery.created = 1_709_210_096_789
    let (mail, raw) = try read(delivery)
    #expect(mail.messageID == delivery.messageID)
    #expect(mail.date == 1_709_210_096)
    #expect(mail.zone == "+0000")
    #expect(raw.contains("Date: Thu, 29 Feb 2024 12:34:56 +0000\r\n"))
    #expect(raw.contains("boundary=\"relay-\(delivery.artifactID)\""))
    delivery.attempt = 7
    #expect(try read(delivery).raw == raw)
    #expect(mail.names.filter { $0 == "Message-ID" }.count == 1)
    #expect(mail.names.contains("Auto-Submitted"))
    #expect(mail.test == nil)
  }

  @Test func `dates are right on every day`() {
    for (milliseconds, text) in [
      (0, "Thu, 1 Jan 1970 00:00:00 +0000"), (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 +0000"),
      (4_107_542_399_999, "Sun, 28 Feb 2100 23:59:59 +0000"), (1_796_036_400_000, "Mon, 30 Nov 2026 11:00:00 +0000"),
      (Int64.min, "Thu, 1 Jan 1970 00:00:00 +0000"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 +0000"),
    ] as [(Int64, String)] { #expect(MailDate.text(of: milliseconds) == text) }
  }

  @Test func `a test is marked for people and for programs`() throws {
    var delivery = FakeDelivery("")
    delivery.isTest = true
    delivery.fileName = "relay-host.txt"
    delivery.mediaType = "text/plain"
    let (mail, _) = try read(delivery, [("subject", "Weights")])
    #expect(mail.subject == "[Test] Weights")
    #expect(mail.test == "1")
    #expect(mail.parts.first?.length == 0)
  }

  @Test func `a packed file is named so, and a media type that can't be carried becomes bytes`() throws {
    var delivery = FakeDelivery("x")
    delivery.contentEncoding = "gzip"
    #expect(try read(delivery).mail.parts.first?.name == "steps.json.gz")
    #expect(try read(delivery).mail.parts.first?.type == "application/gzip")
    delivery.contentEncoding = nil
    for (type, expected) in [
      ("text/csv; charset=utf-8", "text/csv"), ("message/rfc822", "application/octet-stream"),
      ("multipart/mixed; boundary=x", "application/octet-stream"), ("", "application/octet-stream"),
      ("text/plain\r\nBcc: evil@example.org", "application/octet-stream"), ("text/plain;", "application/octet-stream"),
    ] {
      delivery.mediaType = type
      let (mail, _) = try read(delivery)
      #expect(mail.parts.first?.type == expected, "\(type)")
      #expect(!mail.names.contains("Bcc"))
    }
  }
}

@Suite struct Base64StreamTests {
  func encode(_ bytes: [UInt8], lineLength: Int?, pieces: Int) -> [UInt8] {
    var stream = Base64Stream(lineLength: lineLength)
    var output: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = bytes[start..<min(start + pieces, bytes.count)]
      output += piece.withUnsafeBytes { stream.encode($0, isLast: false) }
    }
    return output + stream.encode(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
  }

  @Test(arguments: [nil, 4, 64, 76] as [Int?])
  func `the same characters come out however the bytes are cut`(lineLength: Int?) {
    for count in 0...260 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let plain = Array(Data(bytes).base64EncodedString().utf8)
      var expected: [UInt8] = []
      if let lineLength {
        for start in stride(from: 0, to: plain.count, by: lineLength) {
          expected += plain[start..<min(start + lineLength, plain.count)] + [13, 10]
        }
      } else {
        expected = plain
      }
      for pieces in [1, 2, 3, 5, 57, 1000] {
        #expect(encode(bytes, lineLength: lineLength, pieces: pieces) == expected)
      }
      #expect(Base64Stream.length(of: UInt64(count), lineLength: lineLength) == UInt64(expected.count))
    }
  }

  @Test func `a length that no number holds is none`() {
    #expect(Base64Stream.length(of: .max, lineLength: 76) == nil)
    #expect(Base64Stream.length(of: .max, lineLength: nil) == nil)
    #expect(Base64Stream.length(of: 5_368_709_120, lineLength: 76) == 7_346_654_588)
  }
}
