// SPDX-License-Identifier: Apache-2.0
import RelayTestSupport
import ScenarioSupport

/// A target and the server that its deliveries go to, as a row of the sweep.
struct CutTarget: Sendable {
  var name: String
  var words: String
  /// Whether parts go one by one; else each artifact is one delivery, and two of them take the place of two parts.
  var takesParts = true
  /// Starts the server, which keeps its files in the folder that is there.
  var receiver: @Sendable (_ folder: String) throws -> any CutReceiver
  /// What is put into the targets folder, if it isn't one of our own.
  var library: (@Sendable () throws -> String)?

  static let all: [CutTarget] = [
    CutTarget(name: "http", words: "two POST requests on one connection") { try HTTPCutReceiver(in: $0) },
    CutTarget(name: "http-tls", words: "the same in TLS") { folder in
      try HTTPCutReceiver(in: folder, certificates: certificates.get())
    },
    CutTarget(name: "smtp", words: "two mails on one connection; aiosmtpd", takesParts: false) { folder in
      try SMTPCutReceiver(in: folder)
    },
    CutTarget(name: "smtp-starttls", words: "the same with STARTTLS and a login", takesParts: false) { folder in
      try SMTPCutReceiver(in: folder, certificates: certificates.get())
    },
    CutTarget(name: "mail-service", words: "Resend (a stand-in), two mails", takesParts: false) { folder in
      try MailServiceCutReceiver(in: folder, service: "resend")
    },
    CutTarget(name: "mail-service-postmark", words: "Postmark (a stand-in), two mails", takesParts: false) { folder in
      try MailServiceCutReceiver(in: folder, service: "postmark")
    },
    mqtt("5", qos: 1), mqtt("5", qos: 2), mqtt("3.1.1", qos: 1), mqtt("3.1.1", qos: 2),
    CutTarget(name: "mqtt-tls", words: "MQTT 5, QoS 1 in TLS; mosquitto") { folder in
      try MQTTCutReceiver(in: folder, version: "5", qos: 1, certificates: certificates.get())
    },
    CutTarget(name: "calendar-ics", words: "a new event and a changed one; Radicale") { folder in
      try CalendarCutReceiver(in: folder)
    },
  ]

  private static func mqtt(_ version: String, qos: Int) -> CutTarget {
    let number = version == "5" ? "5" : "311"
    return CutTarget(name: "mqtt\(number)-qos\(qos)", words: "MQTT \(version), QoS \(qos), two messages; mosquitto") {
      try MQTTCutReceiver(in: $0, version: version, qos: qos)
    }
  }

  /// Targets that break a promise on purpose, to show that the sweep notices; only on demand.
  static let bad: [CutTarget] = [
    bad("bad-unheard", "says delivered whatever the answer", "UNHEARD"),
    bad("bad-anew", "has a new key for each attempt", "ANEW"),
    bad("bad-stubborn", "sends again at once, and has it tried again all the same", "STUBBORN"),
    bad("bad-garbled", "sends other bytes after a failure", "GARBLED"),
  ]

  private static func bad(_ name: String, _ words: String, _ flaw: String) -> CutTarget {
    CutTarget(
      name: name, words: words, receiver: { try HTTPCutReceiver(in: $0, target: "org.example.careless") },
      library: { try FixtureTarget.compile("careless", [flaw]) })
  }

  /// The folder of an authority and of a certificate for this machine, made once.
  private static let certificates = Result { () throws -> String in
    let folder = TemporaryFolder.shared.path("certificates")
    let script = Repository.path("Tests/Fixtures/servers/make_certificates.sh")
    let made = try Command.run(["sh", "-c", "mkdir '\(folder)' && sh '\(script)' '\(folder)'"])
    guard made.status == 0 else { throw ScenarioProblem("make_certificates.sh: \(made.output)") }
    return folder
  }
}
