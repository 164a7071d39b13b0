// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import MailSyntax
import RelayConfig
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

@Suite struct SettingsTests {
  /// Opens with the settings changed and gives the verdict with which that is declined.
  static func declined(_ name: String, _ value: FakeValue?, key: String? = "key-of-a-test") -> Verdict? {
    let host = FakeHost(
      settings: [
        "service": "postmark", "from": "relay@example.org", "to": "ada@example.net", "endpoint": "http://127.0.0.1:1",
      ],
      secrets: key.map { ["apiKey": $0] } ?? [:])
    if let value {
      host.settings.set(name, value)
    } else if case .object(let members) = host.settings {
      host.settings = .object(members.filter { $0.0 != name })
    }
    do throws(Verdict) {
      let session = try host.open(MailServiceTarget.self)
      let verdict = session.deliver(FakeDelivery("1"))
      return verdict.outcome == .retry && verdict.reason == .network ? nil : verdict
    } catch {
      return error
    }
  }

  @Test(
    arguments: ["from", "to", "subject"], ["a@b.de\r\nBcc: x@y.de", "a\nb", "nul\u{0}", "\u{7f}", "\u{85}", "\u{2028}"])
  func `control characters need attention and name the setting`(setting: String, value: String) {
    #expect(Self.declined(setting, .text(value)) == MailSettingFault.controlCharacter(setting).verdict)
    if setting == "to" {
      #expect(
        Self.declined("to", ["a@b.de", .text(value)]) == MailSettingFault.controlCharacter("to/1").verdict)
    }
  }

  @Test func `a rendered subject with a line break refuses this artifact alone`() throws {
    let scene = try Scene(.postmark)
    let session = try scene.host.open(MailServiceTarget.self)
    scene.host.settings.set("subject", "a\r\nBcc: x@example.net")
    #expect(session.deliver(FakeDelivery("1")) == MailSettingFault.renderedControlCharacter("subject").verdict)
    scene.host.settings.set("subject", "")
    #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    #expect(try scene.onlyMail().subject == "steps.json")
  }

  @Test(arguments: [
    "", "ada", "@b.de", "a@", "a@b@c.de", "a b@c.de", "<a@b.de", "a@b.de>", "Ada <>", "Ada <a@b.de> x", "a@b..de",
    "a@-", "a@b,de",
    "Ada, Lovelace a@b.de", "\"Ada <a@b.de>", "Ada \"x\" <a@b.de>", "x@y.de <a@b.de>", "a@[127.0.0.1]",
  ])
  func `what is no address needs attention`(text: String) {
    let verdict = Self.declined("from", .text(text))
    #expect(text == "a@-" ? verdict == nil : verdict?.outcome == .needsAttention, "\(verdict?.message ?? "")")
    #expect(verdict?.message.contains("\"from\"") != false)
  }

  @Test func `each kind of address that cannot be used has its words`() {
    #expect(Self.declined("to", "a@b.de, c@d.de") == MailSettingFault.severalInOne("to").verdict)
    #expect(Self.declined("to", "A <a@b.de>; C <c@d.de>") == MailSettingFault.severalInOne("to").verdict)
    #expect(Self.declined("to", "ä@b.de") == MailServiceFault.addressNotASCII("to").verdict)
    #expect(Self.declined("from", "ä@b.de") == MailServiceFault.addressNotASCII("from").verdict)
    #expect(Self.declined("to", .list([])) == MailSettingFault.missing("to").verdict)
    #expect(Self.declined("to", nil) == MailSettingFault.missing("to").verdict)
    #expect(Self.declined("from", nil) == MailSettingFault.missing("from").verdict)
    let many = (0...50).map { FakeValue.text("a\($0)@b.de") }
    #expect(Self.declined("to", .list(many)) == MailServiceFault.tooManyRecipients.verdict)
    #expect(Self.declined("to", .list(Array(many.prefix(50)))) == nil)
  }

  @Test func `addresses and names are read as they are written`() throws {
    let cases: [(String, String?, String, quoted: String)] = [
      ("a@b.de", nil, "a@b.de", "a@b.de"), ("  A B  <a@b.de> ", "A B", "a@b.de", "A B <a@b.de>"),
      ("\"B, \\\"A\\\"\" <a+x@b.de>", "B, \"A\"", "a+x@b.de", "\"B, \\\"A\\\"\" <a+x@b.de>"),
      ("<a@b.de>", nil, "a@b.de", "a@b.de"), ("体重 😊 <o'x@b-c.de>", "体重 😊", "o'x@b-c.de", "体重 😊 <o'x@b-c.de>"),
      ("a@Bücher.DE", nil, "a@xn--bcher-kva.de", "a@xn--bcher-kva.de"),
      ("J. Smith <a@b.de>", "J. Smith", "a@b.de", "\"J. Smith\" <a@b.de>"),
    ]
    for (text, name, mailbox, quoted) in cases {
      let address = try #require(MailAddress(text))
      #expect(address.name == name && address.mailbox == mailbox && address.quoted == quoted, "\(text)")
    }
  }

  @Test(arguments: [
    "ftp://example.org", "example.org", "https://", "https://a b/", "", "https://a/\r\nX: y", "file:///etc/passwd",
  ])
  func `an endpoint that is no address needs attention`(text: String) {
    #expect(Self.declined("endpoint", .text(text)) == TransportFault.addressUnusable("endpoint").verdict)
  }

  @Test func `the key never goes out in the clear`() {
    for text in [
      "http://api.example.org", "http://127.0.0.1@evil.example/", "http://localhost.evil.example",
      "http://127.evil.example",
    ] {
      #expect(Self.declined("endpoint", .text(text)) == MailServiceFault.endpointInClear.verdict, "\(text)")
    }
    for text in ["http://localhost:1", "http://127.0.0.1:1/", "http://127.1.2.3:1//", "http://[::1]:1"] {
      #expect(Self.declined("endpoint", .text(text)) == nil, "\(text)")
    }
    #expect(Self.declined("endpoint", "https://127.0.0.1:1/?a") == MailServiceFault.endpointNotPlain.verdict)
  }

  @Test func `an endpoint with a slash at its end is the same`() throws {
    let scene = try Scene(.resend)
    scene.host.settings.set("endpoint", .text(scene.world + "/"))
    #expect(scene.deliver().outcome == .delivered)
    #expect(try scene.requests().map(\.path) == ["/emails"])
  }

  @Test func `without an endpoint each service has its own`() throws {
    for service in Service.allCases {
      let host = FakeHost(settings: ["service": .text(service.rawValue), "from": "a@b.de", "to": "c@d.de"])
      _ = try host.open(MailServiceTarget.self)
      #expect(service.endpoint.hasPrefix("https://api."))
    }
  }

  @Test func `a key that is missing or no key needs attention and isn't repeated`() {
    #expect(Self.declined("x", "", key: nil) == MailServiceFault.keyMissing.verdict)
    #expect(Self.declined("x", "", key: "") == MailServiceFault.keyMissing.verdict)
    for key in ["re_abc\n", "re abc", "re_\u{0}", "rä", "a\r\nX: y"] {
      #expect(Self.declined("x", "", key: key) == MailServiceFault.keyUnusable.verdict)
    }
  }

  @Test func `the host reads the manifest without complaint`() throws {
    let (manifest, problems) = TargetManifest.read(
      Array(MailServiceManifest.json.utf8), origin: "libMailServiceTarget.so")
    #expect(problems.isEmpty)
    #expect(manifest?.id == "mail-service")
    #expect(manifest?.finalAnswer == 120_000)
    // Of three services one recognises a repeat.
    #expect(manifest?.isIdempotent == false)
  }

  @Test func `the manifest describes every setting`() throws {
    let json = try #require(FakeHost().describe(MailServiceTarget.self))
    let manifest = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(manifest["version"] as? String == MailServiceManifest.version)
    #expect(manifest["unit"] as? String == "artifact")
    let schema = try #require(manifest["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: [String: Any]])
    #expect(Set(properties.keys) == ["service", "apiKey", "from", "to", "subject", "text", "endpoint"])
    for (name, property) in properties {
      #expect(property["title"] is String && property["description"] is String, "\(name)")
    }
  }
}
