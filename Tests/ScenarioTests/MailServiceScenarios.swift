// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// The target `mail-service` in its worker, fed by the daemon.
@Suite struct `Mail services` {
  let host: Installation
  let stand: Child
  let port: String

  init() throws {
    host = try Installation()
    stand = try Child(["/usr/bin/python3", Repository.path("Tests/Fixtures/servers/mail_services.py")])
    port = stand.line()
  }

  /// Each pipeline has a world of its own at the stand-in.
  func pipeline(_ id: String, _ service: String, delivery: String = "", settings: String = "") -> String {
    #"""
    {"id": "\#(id)", "extract": {"from": "inbox"},
     "delivery": {"spacing": "0s", "retryFirst": "100ms"\#(delivery)},
     "load": {"target": "mail-service", "settings": {"service": "\#(service)", "apiKey": {"secret": "\#(service)"},
       "endpoint": "http://127.0.0.1:\#(port)/\#(id)", "from": "Scanner <scanner@example.org>",
       "to": ["ada@example.net", "bob@example.net"], "subject": "Scan: {{ file.name }}"\#(settings)}}}
    """#
  }

  func mails(_ id: String) throws -> [JSONNode] {
    let answer = try host.shell("curl -sf http://127.0.0.1:\(port)/\(id)/!mails")
    return try JSONTree.parse(Array(answer.output.utf8)).array ?? []
  }

  func next(_ id: String, _ rules: String) throws {
    #expect(try host.shell("curl -sf --data-binary '\(rules)' http://127.0.0.1:\(port)/\(id)/!next").status == 0)
  }

  func keys() throws {
    for (name, key) in [("resend", "re_send_only"), ("sendgrid", "SG.good"), ("postmark", "pm-good")] {
      #expect(try host.run(["secret", "set", name], input: key).status == 0)
    }
  }

  @Test func `a file goes out by mail through each service, once, after a crash and a lost answer too`() throws {
    let services = ["resend", "sendgrid", "postmark"]
    try host.configure(pipeline("resend", "resend"), pipeline("sendgrid", "sendgrid"), pipeline("postmark", "postmark"))
    try keys()
    let check = try host.run("check", "--online")
    #expect(check.status == 0, "\(check)")
    try host.start()
    for id in services {
      let test = try host.run("test", id)
      #expect(test.status == 0, "\(test)")
      #expect(test.output.contains("took the mail"))
      let mail = try #require(try mails(id).first)
      #expect(mail["subject"]?.string == "[Test] Scan: relay-host.txt")
    }
    try next("resend", #"[{"cut": "after"}, {"cut": "within"}]"#)
    for id in services { try host.submit(id, "Grüße", name: "Prüfung 1.txt") }
    host.killHard()
    try host.start()
    for id in services {
      #expect(try host.reaches(id, "idle"), "\(id): \(host.log)")
      let all = try mails(id)
      let mail = try #require(all.last)
      // The daemon was killed while it sent, perhaps: only Resend recognises that it sends again.
      let identities = Set(all.dropFirst().compactMap { $0["headers"]?["X-Entity-Ref-ID"]?.string })
      #expect(identities.count == 1, "\(id)")
      #expect((id == "resend" ? 2...2 : 2...3).contains(all.count), "\(id): \(all.count)")
      #expect(mail["subject"]?.string == "Scan: Prüfung 1.txt")
      #expect(mail["to"]?.array?.count == 2)
      #expect(mail["attachments"]?[0]?["length"]?.integer == 7)
      #expect(mail["attachments"]?[0]?["name"]?.string == (id == "sendgrid" ? "Pr_fung 1.txt" : "Prüfung 1.txt"))
      #expect(try host.deliveries(id).last?["verdict"]?.string == "delivered")
    }
    let keys = ["re_send_only", "SG.good", "pm-good"]
    #expect(keys.allSatisfy { !host.log.contains($0) })
  }

  @Test func `where a repeat isn't recognised a person can decide after a lost answer`() throws {
    try host.configure(
      pipeline("asks", "postmark", delivery: #", "onUnsure": "hold""#), pipeline("waits", "sendgrid"),
      pipeline("small", "postmark"))
    try keys()
    try host.start()
    for id in ["asks", "waits"] {
      try next(id, #"[{"cut": "after"}]"#)
      try host.submit(id, "one", name: "one.txt")
    }
    #expect(try host.reaches("asks", "needs-attention"))
    #expect(try host.reaches("waits", "waiting"))
    #expect(try host.status("waits")["lastVerdict"]?["message"]?.string?.contains("may have arrived") == true)
    #expect(try mails("asks").count == 1)
    // Too large for Postmark: set aside with the reason, and the next one goes.
    #expect(try host.shell("head -c 7000001 /dev/zero > large.bin; relay submit small large.bin").status == 0)
    try host.submit("small", "two", name: "two.txt")
    let isDone = try eventually(within: 20) { try mails("small").count == 1 && host.refused("small").count == 1 }
    #expect(isDone)
    #expect(host.deliveriesOnDisk("small").first?["message"]?.string?.contains("7 MB is the most") == true)
  }

  @Test func `a large file costs a worker a bounded memory`() throws {
    try host.configure(pipeline("resend", "resend"))
    try keys()
    try host.start()
    #expect(try host.shell("head -c 25000000 /dev/urandom > large.bin; relay submit resend large.bin").status == 0)
    var most = 0
    let isDone = try eventually(within: 60) {
      most = max(most, ProcessTable.workers(of: host.pid).map(ProcessTable.residentBytes).max() ?? 0)
      return try mails("resend").count == 1
    }
    #expect(isDone)
    #expect(Sanitizer.isOn || most < 32 << 20, "\(most) bytes at most")
    let expected = try host.shell("sha256sum large.bin").output.prefix(64)
    #expect(try mails("resend").first?["attachments"]?[0]?["sha256"]?.string == String(expected))
  }
}
