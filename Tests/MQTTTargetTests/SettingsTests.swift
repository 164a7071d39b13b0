// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayConfig
import TargetKit
import TargetKitTesting
import Testing

@testable import MQTTTargetLogic

@Suite struct SettingsTests {
  static func settings(_ more: [(String, FakeValue)] = []) -> FakeValue {
    var settings: FakeValue = ["host": "127.0.0.1", "port": 1, "topic": "a/b"]
    for (name, value) in more { settings.set(name, value) }
    return settings
  }

  static func opening(_ settings: FakeValue, _ secrets: [String: String] = [:]) -> Verdict? {
    do throws(Verdict) {
      _ = try FakeHost(settings: settings, secrets: secrets).open(MQTTTarget.self)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "", "mqtt://broker", "broker:1883", "bro ker", "broker\r\n", "bro\u{0}ker", "bro\u{7f}ker", "[::1]", "a/b",
    "user@broker", "b\u{FFFD}",
  ])
  func `a host that cannot be used needs attention when the target opens`(host: String) {
    let verdict = Self.opening(Self.settings([("host", .text(host))]))
    #expect(verdict == (host.isEmpty ? MQTTFault.hostMissing : .hostUnusable).verdict)
  }

  @Test(arguments: ["broker", "::1", "fe80::1%eth0", "192.168.1.5", "bücher.example", "broker.local."])
  func `a name or an address is taken`(host: String) {
    #expect(Self.opening(Self.settings([("host", .text(host))])) == nil)
  }

  static let unfit = ["a\nb", "a\r\nb", "nul\u{0}", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{FFFD}"] + noCharacters
  static let noCharacters = [0xFFFE, 0xFDD0].compactMap { Unicode.Scalar(UInt32($0)) }.map { String(Character($0)) }

  @Test(arguments: unfit, ["username", "clientId", "topic", "discovery.prefix", "discovery.node"])
  func `control characters and line breaks are told, wherever they stand`(text: String, setting: String) throws {
    var settings = Self.settings()
    let parts = setting.split(separator: ".").map(String.init)
    if parts.count == 2 {
      settings.set(parts[0], .object([("object", "x"), (parts[1], .text(text))]))
    } else {
      settings.set(setting, .text(text))
    }
    let verdict = try #require(Self.opening(settings))
    #expect(verdict.outcome == .needsAttention && verdict.reason == .settings)
    #expect(verdict.message.contains(setting), "\(verdict.message)")
    // What is told is itself one printable line.
    #expect(!verdict.message.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{7f}" })
  }

  @Test func `a password is bytes, but not NUL, and not longer than MQTT has room for`() throws {
    let settings = Self.settings([("username", "ada")])
    #expect(Self.opening(settings, ["password": "line\nbreak \u{7}"]) == nil)
    for password in ["nul\u{0}here", String(repeating: "x", count: 65_536)] {
      let verdict = try #require(Self.opening(settings, ["password": password]))
      #expect(verdict.outcome == .needsAttention && !verdict.message.contains("here"))
    }
    #expect(Self.opening(Self.settings(), ["password": "alone"]) == MQTTFault.passwordAlone.verdict)
    #expect(
      Self.opening(Self.settings([("username", .text(String(repeating: "x", count: 65_536)))]))
        == MQTTFault.tooLong("username").verdict)
  }

  @Test func `a password goes over the wire as it is`() throws {
    let peer = try Peer()
    let secret = "pass\nword \u{7} ä"
    let host = FakeHost(settings: peer.settings([("username", "ada")]), secrets: ["password": secret])
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("{}")).outcome == .delivered)
    let connect = try #require(try peer.packets("CONNECT").first)
    #expect(connect.username == "ada" && connect.password == secret)
  }

  static let badTopics = ["", "$SYS/x", "a/+/b", "a/#", "+", "a\u{0}b", "a\nb", String(repeating: "x", count: 65_536)]

  @Test(arguments: badTopics)
  func `a topic that nobody can publish on needs attention, and refuses the part that a template made it for`(
    topic: String
  ) {
    let verdict = Self.opening(Self.settings([("topic", .text(topic))]))
    #expect(verdict?.outcome == .needsAttention && verdict?.reason == .settings)
    // A rendered one is there from the delivery on.
    let host = FakeHost(settings: Self.settings([("topic", "fine")]))
    guard let session = try? host.open(MQTTTarget.self) else { return #expect(Bool(false), "it opens") }
    host.settings.set("topic", .text(topic))
    let refused = session.deliver(FakeDelivery("{}"))
    #expect(refused.outcome == .refused && refused.reason == .settings, "\(refused)")
    #expect(host.bytesRead == 0)
  }

  @Test(arguments: ["a", "/", "a//b", "grüße/👟", "a b", String(repeating: "x", count: 65_535)])
  func `a topic may hold anything else`(topic: String) {
    #expect(Self.opening(Self.settings([("topic", .text(topic))])) == nil)
  }

  @Test func `the port follows TLS, which an empty object turns on`() throws {
    func read(_ settings: FakeValue) throws -> MQTTSettings? {
      var found: MQTTSettings?
      _ = try FakeHost(settings: settings).open { (host: TargetKit.Host) throws(Verdict) in
        found = try MQTTSettings(host: host)
        return try MQTTTarget(host: host)
      }
      return found
    }
    let plain = try read(["host": "b", "topic": "t"])
    #expect(plain?.port == 1883 && plain?.tls == nil && plain?.qos == 1 && plain?.retain == false)
    let secure = try read(["host": "b", "topic": "t", "tls": .object([])])
    #expect(secure?.port == 8883 && secure?.tls == MQTTSettings.TLSFiles())
    #expect(try read(["host": "b", "topic": "t", "tls": .object([]), "port": 1])?.port == 1)
    #expect(
      Self.opening(Self.settings([("tls", ["certificate": "/a.pem"])])) == MQTTFault.certificateHalf.verdict)
  }

  @Test func `the host reads the manifest without complaint`() throws {
    let (manifest, problems) = TargetManifest.read(Array(MQTTManifest.json.utf8), origin: "libMQTTTarget.so")
    #expect(problems.isEmpty, "\(problems)")
    #expect(manifest?.id == "mqtt")
    #expect(manifest?.finalAnswer == 75_000)
    #expect(manifest?.isIdempotent == false)
    #expect(Publication.patience < 75_000)
  }

  @Test func `the manifest is JSON that names the target and describes every setting`() throws {
    let json = try #require(FakeHost().describe(MQTTTarget.self))
    let manifest = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(manifest["version"] as? String == MQTTManifest.version)
    #expect(manifest["maximumBytes"] as? UInt64 == MQTTManifest.maximumBytes)
    let schema = try #require(manifest["settings"] as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: [String: Any]])
    #expect(
      Set(properties.keys) == [
        "host", "port", "tls", "username", "password", "clientId", "topic", "qos", "retain", "version", "discovery",
      ])
    for (name, property) in properties {
      #expect(property["title"] is String && property["description"] is String, "\(name)")
    }
  }

  @Test func `patience is counted from the last byte that moved`() {
    var patience = Patience(milliseconds: 100, now: 1000)
    #expect(patience.remaining(now: 1000) == 100)
    // The first count is where counting begins.
    #expect(!patience.saw(5, now: 1050) && patience.remaining(now: 1050) == 50)
    #expect(patience.saw(6, now: 1090) && patience.remaining(now: 1090) == 100)
    #expect(!patience.saw(6, now: 1189) && patience.remaining(now: 1189) == 1)
    #expect(patience.remaining(now: 1190) == nil)
  }
}
