// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// Each target in a confined worker, to its real server, over TLS with an authority of the test's own and by a name that only
/// /etc/hosts knows, where that can be arranged.
@Suite struct `Every target, confined` {
  private static let name = SurroundedProgram.isOtherMachinePossible ? "relay-test.local" : "localhost"
  private let host: Installation
  private let tls: String

  init() throws {
    let place = Installation.newPlace()
    host = try Installation(
      program: SurroundedProgram.isOtherMachinePossible
        ? SurroundedProgram.knowing(Self.name, trusting: place + "/tls/ca.pem") : Installation.program, at: place)
    tls = host.path + "/tls"
    try #require(mkdir(tls, 0o755) == 0)
    let made = try Command.run(["sh", Repository.path("Tests/Fixtures/servers/make_certificates.sh"), tls])
    try #require(made.status == 0, "\(made)")
  }

  private func server(_ words: String...) throws -> (process: Child, port: String) {
    let process = try Child(words)
    return (process, process.line())
  }

  private func pipeline(_ target: String, _ settings: String) -> String {
    #"""
    {"id": "\#(target)", "extract": {"from": "inbox"}, "delivery": {"spacing": "0s", "retryFirst": "100ms"},
     "load": {"target": "\#(target)", "settings": {\#(settings)}}}
    """#
  }

  private var authority: String { #""tls": {"ca": "\#(tls)/ca.pem"}"# }

  /// Delivers one file, and looks at who did it and what the log has to say of it.
  private func deliver(_ target: String, _ content: String, _ name: String) throws {
    let check = try host.run("check", "--online")
    #expect(check.status == 0, "\(check)")
    try host.start()
    try host.submit(target, content, name: name)
    try #require(eventually(within: 60) { host.deliveriesOnDisk(target).count == 1 }, "\(host.log)")
    let delivery = host.deliveriesOnDisk(target).first
    #expect(delivery?["verdict"]?.string == "delivered", "\(String(describing: delivery)) \(host.log)")
    let workers = ProcessTable.workers(of: host.pid).filter(ProcessTable.runs)
    #expect(workers.count == 1 && workers.allSatisfy { ProcessTable.filters($0) >= 2 })
    host.stop()
    #expect(!host.log.contains("denied") && !host.log.contains("can't be opened"), "\(host.log)")
    #expect(!host.log.contains("less confined"))
  }

  @Test func `folder`() throws {
    try host.configure(pipeline("folder", #""directory": "out", "existing": "keep-both""#))
    try deliver("folder", "a scan", "page 1.pdf")
    #expect(host.text(of: "out/page 1.pdf") == "a scan")
  }

  @Test func `http, directly and through a proxy, which looks up the name`() throws {
    let peer = try server(
      "python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), tls + "/record", tls + "/good.pem",
      tls + "/good.key")
    let proxy = try server(
      "python3", Repository.path("Tests/Fixtures/servers/connect_proxy.py"), host.path + "/asked")
    let settings = #""url": "https://\#(Self.name):\#(peer.port)/status/200", \#(authority)"#
    try host.configure(pipeline("http", settings))
    try deliver("http", "directly", "a.txt")
    try host.configure(pipeline("http", settings + #", "proxy": "http://\#(Self.name):\#(proxy.port)""#))
    try host.start()
    try host.submit("http", "by the proxy", name: "b.txt")
    #expect(eventually { host.deliveriesOnDisk("http").last?["verdict"]?.string == "delivered" })
    try #require(eventually { host.deliveriesOnDisk("http").count == 2 }, "\(host.log)")
    #expect(host.text(of: "asked") == "CONNECT \(Self.name):\(peer.port)\n")
    #expect(host.text(of: "tls/record").split(separator: "\n").count { $0.contains("/status/200") } >= 2)
  }

  @Test func `smtp, to aiosmtpd with STARTTLS and a login, with the sender's domain in the Message-ID`() throws {
    let mails = host.path + "/mails"
    #expect(mkdir(mails, 0o755) == 0)
    let peer = try server(
      Repository.python, Repository.path("Tests/Fixtures/servers/aiosmtpd_peer.py"), mails, tls + "/good.pem",
      tls + "/good.key")
    try host.configure(
      pipeline(
        "smtp",
        #"""
        "host": "\#(Self.name)", "port": \#(peer.port), "username": "u", "password": {"secret": "mail"},
        "from": "Relay Host <relay@Sender.example>", "to": "me@example.org", \#(authority)
        """#))
    #expect(try host.run(["secret", "set", "mail"], input: "right").status == 0)
    try deliver("smtp", "a,b\n", "table.csv")
    let mail = host.text(of: "mails/1.eml")
    let line = mail.split(separator: "\r\n").first { $0.hasPrefix("Message-ID: <") } ?? ""
    #expect(line.hasSuffix("@sender.example>"), "\(mail)")
    #expect(mail.contains("filename=\"table.csv\""))
    #expect(host.text(of: "mails/1.json").contains("\"tls\": true"))
  }

  @Test func `mail-service, with the machine's own authorities`() throws {
    let isOther = SurroundedProgram.isOtherMachinePossible
    let encryption = isOther ? [tls + "/good.pem", tls + "/good.key"] : []
    let stand = try Child(
      ["/usr/bin/python3", Repository.path("Tests/Fixtures/servers/mail_services.py")] + encryption)
    let port = stand.line()
    // Where the machine trusts nobody else, the key goes no further than this machine, and in clear.
    let endpoint = isOther ? "https://\(Self.name):\(port)/w" : "http://127.0.0.1:\(port)/w"
    try host.configure(
      pipeline(
        "mail-service",
        #"""
        "service": "resend", "apiKey": {"secret": "resend"}, "endpoint": "\#(endpoint)",
        "from": "scanner@example.org", "to": "ada@example.net"
        """#))
    #expect(try host.run(["secret", "set", "resend"], input: "re_send_only").status == 0)
    try deliver("mail-service", "hello", "hello.txt")
    let address = isOther ? "https://localhost:\(port)/w" : endpoint
    let mails = try host.shell("curl -sf --cacert tls/ca.pem \(address)/!mails").output
    #expect(try JSONTree.parse(Array(mails.utf8))[0]?["subject"]?.string == "hello.txt")
  }

  @Test(.enabled(if: LocalMachine.isPossible, "no network that carries messages to all"))
  func `http, smtp and mqtt by a name that only the machine itself knows`() throws {
    let machine = try LocalMachine("relay-mdns.local")
    let web = try server(
      "python3", Repository.path("Tests/Fixtures/servers/http_peer.py"), tls + "/record", tls + "/good.pem",
      tls + "/good.key")
    let mail = try server(
      "python3", Repository.path("Tests/Fixtures/servers/smtp_peer.py"), tls + "/mails", tls + "/good.pem",
      tls + "/good.key", "tls")
    let broker = try server(
      "python3", Repository.path("Tests/Fixtures/servers/mosquitto.py"), host.path + "/broker",
      "certfile \(tls)/good.pem", "keyfile \(tls)/good.key")
    let place = #""host": "relay-mdns.local""#
    try host.configure(
      pipeline("http", #""url": "https://relay-mdns.local:\#(web.port)/status/200", \#(authority)"#),
      pipeline(
        "smtp",
        #"\#(place), "port": \#(mail.port), "security": "tls", "from": "a@b.example", "to": "c@d.example", \#(authority)"#
      ),
      pipeline("mqtt", #"\#(place), "port": \#(broker.port), "topic": "t", \#(authority)"#))
    let check = try host.run("check", "--online")
    #expect(check.status == 0, "\(check)")
    try host.start()
    for target in ["http", "smtp", "mqtt"] {
      try host.submit(target, "x")
      try #require(eventually(within: 60) { host.deliveriesOnDisk(target).count == 1 }, "\(host.log)")
      let delivery = host.deliveriesOnDisk(target).first
      #expect(delivery?["verdict"]?.string == "delivered", "\(target): \(String(describing: delivery))")
    }
    host.stop()
    #expect(!host.log.contains("denied"), "\(host.log)")
    withExtendedLifetime(machine) {}
  }

  @Test func `mqtt, to mosquitto`() throws {
    let broker = try server(
      "python3", Repository.path("Tests/Fixtures/servers/mosquitto.py"), host.path + "/broker",
      "certfile \(tls)/good.pem", "keyfile \(tls)/good.key")
    try host.configure(
      pipeline(
        "mqtt",
        #""host": "\#(Self.name)", "port": \#(broker.port), "topic": "t", "retain": true, "qos": 2, \#(authority)"#))
    try deliver("mqtt", "81.2", "weight.txt")
    let read = try host.shell("mosquitto_sub -h localhost -p \(broker.port) --cafile tls/ca.pem -t t -C 1 -W 30")
    #expect(read.output == "81.2\n", "\(read)")
  }

  @Test func `calendar-ics, to Radicale`() throws {
    let radicale = try server(
      "/usr/bin/python3", Repository.path("Tests/Fixtures/servers/radicale_server.py"), host.path + "/radicale", "ada",
      "swordfish", tls + "/good.pem", tls + "/good.key")
    let calendar = "/ada/workouts/"
    let curl = "curl -sf --cacert tls/ca.pem -u ada:swordfish"
    #expect(try host.shell("\(curl) -X MKCALENDAR https://localhost:\(radicale.port)\(calendar)").status == 0)
    let events =
      #"{"events": [{"key": "k", "title": "One", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z"}]}"#
    try host.configure(
      pipeline(
        "calendar-ics",
        #"""
        "url": "https://\#(Self.name):\#(radicale.port)\#(calendar)", "username": "ada", "password": {"secret": "cloud"},
        \#(authority)
        """#))
    #expect(try host.run(["secret", "set", "cloud"], input: "swordfish").status == 0)
    try deliver("calendar-ics", events, "events.json")
    let there = try host.shell("\(curl) https://localhost:\(radicale.port)\(calendar)").output
    #expect(there.contains("SUMMARY:One\r\n"))
  }

  @Test func `calendar-ics, into a file of a folder of its own`() throws {
    try host.shell("mkdir feed")
    try host.configure(pipeline("calendar-ics", #""file": "feed/health.ics""#))
    let events =
      #"{"events": [{"key": "k", "title": "One", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z"}]}"#
    try deliver("calendar-ics", events, "events.json")
    #expect(host.text(of: "feed/health.ics").contains("SUMMARY:One\r\n"))
    // It is replaced, for which the folder is open; and the file alone is what the setting names.
    let check = try host.run("check")
    #expect(check.output.contains("replaces \(host.path)/feed/health.ics"), "\(check)")
  }
}
