// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import RelayConfig
import TargetKit
import TargetKitTesting
import Testing

@testable import HTTPTargetLogic

@Suite struct SettingsTests {
  @Test(arguments: [
    "ftp://example.org/", "file:///etc/passwd", "example.org", "http://", "http://a b/", "http://a/\r\nX: y", "",
  ])
  func `an address that cannot be used needs attention when the target opens`(url: String) {
    #expect(throws: TransportFault.addressUnusable("url").verdict) {
      try FakeHost(settings: ["url": .text(url)]).open(HTTPTarget.self)
    }
  }

  @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "nul\u{0}", "\u{7f}"])
  func `a header value with control characters needs attention and nothing is sent`(value: String) {
    let host = FakeHost(settings: ["url": "http://127.0.0.1:1/", "headers": ["X-A": .text(value)]])
    #expect(host.deliver(HTTPTarget.self, FakeDelivery("{}")) == TransportFault.headerValue("X-A").verdict)
  }

  @Test(arguments: ["Content-Length", "transfer-encoding", "Connection", "Expect"])
  func `fields of the transfer cannot be set`(name: String) {
    let host = FakeHost(settings: ["url": "http://127.0.0.1:1/", "headers": .object([(name, .text("1"))])])
    #expect(host.deliver(HTTPTarget.self, FakeDelivery("{}")) == TransportFault.headerReserved(name).verdict)
  }

  @Test(arguments: ["", "a b", "a:b", "ä", "a\r\nb"])
  func `a header name must be a token`(name: String) {
    let host = FakeHost(settings: ["url": "http://127.0.0.1:1/", "headers": .object([(name, .text("1"))])])
    #expect(host.deliver(HTTPTarget.self, FakeDelivery("{}")) == TransportFault.headerName(name).verdict)
  }

  @Test func `a header name with slash or tilde is no path of its own`() {
    #expect(Host.escape("a~/b") == "a~0~1b")
  }

  @Test func `credentials are given once and whole`() {
    let twice = FakeHost(
      settings: ["url": "http://127.0.0.1:1/", "headers": ["authorization": "x"]], secrets: ["bearer": "t"])
    #expect(twice.deliver(HTTPTarget.self, FakeDelivery("{}")) == HTTPFault.authorizationTwice.verdict)
    let half = FakeHost(settings: ["url": "http://127.0.0.1:1/", "basic": ["username": "ada"]])
    #expect(half.deliver(HTTPTarget.self, FakeDelivery("{}")) == HTTPFault.basicIncomplete.verdict)
    let colon = FakeHost(
      settings: ["url": "http://127.0.0.1:1/", "basic": ["username": "a:b"]], secrets: ["basic/password": "p"])
    #expect(colon.deliver(HTTPTarget.self, FakeDelivery("{}")) == HTTPFault.colonInUsername.verdict)
  }

  @Test(arguments: ["whsec_", "whsec_AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_%%%%", "whsec_AAAAA"])
  func `a key that is none of Standard Webhooks needs attention and is not repeated`(secret: String) {
    let host = FakeHost(settings: ["url": "http://127.0.0.1:1/"], secrets: ["standardWebhooks/secret": secret])
    let verdict = host.deliver(HTTPTarget.self, FakeDelivery("{}"))
    #expect(verdict == HTTPFault.webhookSecret.verdict)
  }

  @Test func `base64 goes both ways`() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
      if count > 0 { #expect(Base64.decode(Base64.encode(bytes)) == bytes) }
    }
  }

  @Test func `the host reads the manifest without complaint`() throws {
    let (manifest, problems) = TargetManifest.read(Array(HTTPManifest.json.utf8), origin: "libHTTPTarget.so")
    #expect(problems.isEmpty)
    #expect(manifest?.id == "http")
    #expect(manifest?.finalAnswer == 120_000)
    #expect(manifest?.isIdempotent == true)
  }

  @Test func `the manifest is JSON that names the target and describes every setting`() throws {
    let json = try #require(FakeHost().describe(HTTPTarget.self))
    let manifest = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(manifest["id"] as? String == "http")
    #expect(manifest["version"] as? String == HTTPManifest.version)
    let schema = try #require(manifest["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: [String: Any]])
    #expect(
      Set(properties.keys) == [
        "url", "method", "headers", "bearer", "basic", "body", "field", "hmac", "standardWebhooks",
        "idempotencyHeader", "automationHeaders", "successStatuses", "conflictIsSuccess", "httpVersion", "proxy",
        "tls",
      ])
    for (name, property) in properties {
      #expect(property["title"] is String && property["description"] is String, "\(name)")
    }
  }

  @Test func `the origin of a templated address is known when it is fixed`() {
    let cases: [(String, String?)] = [
      ("http://ha:8123/api/{{ metric }}", "http://ha:8123"), ("https://{{ host }}/x", nil),
      ("https://a{{ x }}.org/", nil), ("http://a/?q={{ x }}", "http://a"),
    ]
    for (url, expected) in cases {
      #expect(Address.origin(ofTemplateIn: FakeValue.object([("url", .text(url))]).json) == expected, "\(url)")
    }
  }
}
