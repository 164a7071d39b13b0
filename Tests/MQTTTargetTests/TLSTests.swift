// SPDX-License-Identifier: Apache-2.0
import Foundation
import MQTTTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@Suite(.enabled(if: Mosquitto.isInstalled, "mosquitto is not installed"))
struct TLSTests {
  let folder: String

  init() throws {
    folder = try BrokerTroubleTests.folder()
    let made = try Child.run(["sh", Repository.path("Tests/Fixtures/servers/make_certificates.sh"), folder])
    try #require(made.status == 0)
  }

  func broker(_ certificate: String, _ more: [String] = []) throws -> Mosquitto {
    try Mosquitto(["certfile %s/\(certificate).pem", "keyfile %s/\(certificate).key"] + more, folder: folder)
  }

  func deliver(_ broker: Mosquitto, _ tls: FakeValue, _ more: [(String, FakeValue)] = []) -> Verdict {
    FakeHost(settings: broker.settings("x", [("tls", tls)] + more)).deliver(MQTTTarget.self, FakeDelivery("x"))
  }

  var ours: FakeValue { ["ca": .text("\(folder)/ca.pem")] }

  @Test(arguments: ["auto", "3.1.1"], [0, 1, 2])
  func `an authority of one's own is trusted when it is named`(version: String, qos: Int) throws {
    let broker = try broker("good")
    let more: [(String, FakeValue)] = [("version", .text(version)), ("qos", .integer(Int64(qos)))]
    #expect(deliver(broker, ours, more).outcome == .delivered)
    let check = try FakeHost(settings: broker.settings("x", [("tls", ours)] + more)).open(MQTTTarget.self).check()
    #expect(check.outcome == .delivered && check.message.contains("TLSv1.3"), "\(check)")
  }

  @Test(.enabled(if: LocalMachine.isPossible, "no network that carries messages to all"))
  func `a name that the network knows is checked too, before the password goes out`() throws {
    let machine = try LocalMachine("relay-mdns.local")
    let login: [(String, FakeValue)] = [("host", "relay-mdns.local"), ("username", "relay")]
    // Both write one log, so the one that mustn't be logged in to goes first.
    for (certificate, outcome) in [("other", Verdict.Outcome.needsAttention), ("good", .delivered)] {
      let broker = try broker(certificate)
      let host = FakeHost(settings: broker.settings("x", [("tls", ours)] + login), secrets: ["password": "swordfish"])
      let verdict = host.deliver(MQTTTarget.self, FakeDelivery("x"))
      #expect(verdict.outcome == outcome, "\(certificate): \(verdict)")
      #expect(broker.log.contains("as relay") == (outcome == .delivered), "\(broker.log)")
    }
    withExtendedLifetime(machine) {}
  }

  @Test func `a name is checked as well as an address`() throws {
    let broker = try broker("good")
    let host = FakeHost(settings: broker.settings("x", [("tls", ours), ("host", "localhost")]))
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")).outcome == .delivered)
  }

  @Test func `an unknown authority, another host's and an expired certificate need attention, and nobody logs in`()
    throws
  {
    for (certificate, tls, words) in [
      ("good", FakeValue.object([]), "not trusted"), ("other", ours, "another host"), ("expired", ours, "expired"),
    ] {
      let broker = try broker(certificate)
      let verdict = deliver(broker, tls)
      #expect(verdict.outcome == .needsAttention && verdict.reason == .tls, "\(certificate) \(verdict)")
      #expect(verdict.message.contains(words), "\(verdict.message)")
      #expect(!broker.log.contains("New client connected"))
    }
  }

  @Test func `our certificate is shown to a broker that asks for one`() throws {
    let broker = try broker("good", ["cafile %s/ca.pem", "require_certificate true"])
    let shown: FakeValue = [
      "ca": .text("\(folder)/ca.pem"), "certificate": .text("\(folder)/client.pem"),
      "key": .text("\(folder)/client.key"),
    ]
    #expect(deliver(broker, shown).outcome == .delivered)
    var verdict = deliver(broker, ours)
    // With TLS 1.3 the refusal comes after the handshake; a reset that overtakes it leaves nothing to read.
    for _ in 0..<20 where verdict.outcome == .retry { verdict = deliver(broker, ours) }
    #expect(verdict.outcome == .needsAttention && verdict.reason == .tls, "\(verdict)")
    #expect(verdict.message.contains("tls.certificate"))
  }

  @Test func `files that cannot be used need attention`() throws {
    let broker = try broker("good")
    let ca = FakeValue.text("\(folder)/ca.pem")
    let encrypted = "\(folder)/encrypted.key"
    #expect(
      try Child.run([
        "openssl", "ec", "-in", "\(folder)/client.key", "-out", encrypted, "-aes256", "-passout", "pass:swordfish",
      ]).status == 0)
    try BrokerTroubleTests.write("no certificate", to: "\(folder)/empty.pem")
    let client = FakeValue.text("\(folder)/client.pem")
    let cases: [(String, FakeValue)] = [
      ("/nowhere.pem", ["ca": "/nowhere.pem"]), ("", ["ca": .text("\(folder)/empty.pem")]),
      ("/nowhere.key", ["ca": ca, "certificate": client, "key": "/nowhere.key"]),
      // Another certificate's key, and one that would ask for a password.
      ("", ["ca": ca, "certificate": client, "key": .text("\(folder)/good.key")]),
      ("", ["ca": ca, "certificate": client, "key": .text(encrypted)]),
    ]
    for (words, tls) in cases {
      let verdict = deliver(broker, tls)
      #expect(verdict.outcome == .needsAttention && verdict.reason == .tls, "\(verdict)")
      #expect(words.isEmpty || verdict.message.contains(words), "\(verdict.message)")
    }
  }

  @Test func `a port without TLS, and TLS on a port that has none, are retries that say so`() throws {
    let plain = try Mosquitto()
    // The broker's reset comes sooner or later than the next look at the connection.
    for _ in 0..<30 {
      let without = deliver(plain, ours)
      #expect(without.outcome == .retry && without.message.contains("TLS"), "\(without)")
    }
    let secure = try broker("good")
    for _ in 0..<30 {
      let verdict = FakeHost(settings: secure.settings("x")).deliver(MQTTTarget.self, FakeDelivery("x"))
      #expect(verdict.outcome == .retry && verdict.message.contains("TLS"), "\(verdict)")
    }
  }

  @Test func `60 MB go over TLS`() throws {
    let broker = try broker("good")
    let subscriberless = FakeHost(settings: broker.settings("x", [("tls", ours)]))
    let verdict = subscriberless.deliver(MQTTTarget.self, FakeDelivery(FakeSource(zeros: 60_000_000)))
    #expect(verdict.outcome == .delivered, "\(verdict)")
    #expect(subscriberless.progressed.count > 2)
  }

  @Test
  func `a handshake that stops ends within a second when the host wants it, and does not keep the processor busy`()
    throws
  {
    let silent = try DeafListener(isFull: false)
    let host = FakeHost(
      settings: ["host": "127.0.0.1", "port": .integer(Int64(silent.port)), "topic": "x", "tls": ours])
    host.stopWhen = Deadline.after(seconds: 0.7)
    let (before, worked) = (monotonicSeconds(), processorSeconds())
    #expect(host.deliver(MQTTTarget.self, FakeDelivery("x")) == .cancelled)
    #expect(monotonicSeconds() - before < 1.7)
    #expect(processorSeconds() - worked < 0.3)
  }

  private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
