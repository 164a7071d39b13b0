// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayTestSupport
import TargetKit
import TargetKitTesting
import Testing

@testable import SMTPTargetLogic

@Suite struct SettingsTests {
  let good: FakeValue = ["host": "mail.example.org", "from": "relay@example.org", "to": "me@example.org"]

  func open(_ more: [(String, FakeValue)], password: String? = nil) -> Verdict? {
    var settings = good
    for (name, value) in more { settings.set(name, value) }
    let host = FakeHost(settings: settings, secrets: password.map { ["password": $0] } ?? [:])
    do throws(Verdict) {
      _ = try host.open(SMTPTarget.self)
      return nil
    } catch {
      return error
    }
  }

  @Test func `control characters anywhere are refused, with the setting's name, before anyone is asked`() {
    for evil in ["\r\nRCPT TO:<evil@example.org>", "\n", "\r", "\u{0}", "\u{7f}", "\u{85}", "\u{2028}", "\t"] {
      let cases: [(String, FakeValue, String)] = [
        ("host", .text("mail.example.org\(evil)"), "host"), ("from", .text("a\(evil)@example.org"), "from"),
        ("from", .text("Name\(evil) <a@example.org>"), "from"), ("to", .text("a@example.org\(evil)"), "to"),
        ("to", ["b@example.org", .text("a@exam\(evil)ple.org")], "to/1"), ("cc", .text("\(evil)a@example.org"), "cc"),
        ("bcc", [.text("a\(evil)@example.org")], "bcc/0"), ("subject", .text("Weights\(evil)"), "subject"),
      ]
      for (setting, value, name) in cases {
        let verdict = open([(setting, value)])
        #expect(verdict?.outcome == .needsAttention, "\(setting)")
        #expect(verdict?.message.contains("\"\(name)\"") == true, "\(setting): \(verdict?.message ?? "")")
        #expect(verdict?.message.contains("control character") == true)
      }
      let login = open([("username", .text("u\(evil)"))], password: "secret")
      #expect(login?.message.contains("\"username\"") == true)
    }
  }

  @Test func `a template that gave a control character sets only that artifact aside`() throws {
    let peer = try Peer()
    let host = try peer.host()
    let session = try host.open(SMTPTarget.self)
    host.settings.set("subject", "Weights\r\nBcc: evil@example.org")
    let verdict = session.deliver(FakeDelivery("x"))
    #expect(verdict.outcome == .refused)
    #expect(verdict.message.contains("\"subject\""))
    #expect(try peer.events.isEmpty)
  }

  @Test func `what is no address is told apart from several in one`() {
    for text in [
      "me", "@example.org", "me@", "me@exa mple.org", "me you@example.org", "<me@example.org", "Me me@example.org>",
      "me@ex@ample.org",
      "Name <>", "\"open <me@example.org>", "me@.org", "me@example..org", "me@[127.0.0.1]", "me@example.org/x",
      "a@b:25",
      "a@" + String(repeating: "x", count: 64) + ".org", String(repeating: "x", count: 65) + "@example.org",
      "(me)@example.org", "me;@example.org",
    ] {
      let verdict = open([("to", .text(text))])
      #expect(verdict?.outcome == .needsAttention, "\(text)")
      #expect(verdict?.message.contains("\"to\"") == true)
    }
    for text in ["a@example.org, b@example.org", "a@example.org;b@example.org", "A <a@example.org>, B <b@example.org>"]
    {
      #expect(open([("to", .text(text))])?.message.contains("as a list") == true, "\(text)")
    }
    for text in [
      "o'brien@example.org", "a..b@example.org", "a@localhost", "A@EXAMPLE.ORG", "x+y=z@a-b.example",
      "  me@example.org ", "ü@example.org", "a@xn--bcher-kva.example",
    ] {
      #expect(open([("to", .text(text))]) == nil, "\(text)")
    }
  }

  @Test func `what is missing or can't work together is told`() {
    let many = FakeValue.list((1...51).map { .text("a\($0)@example.org") })
    let cases: [([(String, FakeValue)], String?, String)] = [
      ([("host", "")], nil, "\"host\""), ([("from", "")], nil, "\"from\""), ([("to", [])], nil, "\"to\""),
      ([("to", many)], nil, "more than 50"), ([("username", "u")], nil, "go together"), ([], "secret", "go together"),
      ([("username", "u"), ("security", "none")], "secret", "allowPasswordInClear"),
      ([("username", "u")], "a\u{0}b", "zero byte"),
      ([("host", "mail.example.org:25")], nil, "\"host\""), ([("host", "smtp://mail.example.org")], nil, "\"host\""),
      ([("host", "u@mail.example.org")], nil, "\"host\""), ([("host", "mail.example.org/x")], nil, "\"host\""),
      ([("host", "mail example")], nil, "\"host\""), ([("host", "a%41")], nil, "\"host\""),
      ([("host", "::1:x")], nil, "\"host\""),
    ]
    for (settings, password, words) in cases {
      let verdict = open(settings, password: password)
      #expect(verdict?.outcome == .needsAttention, "\(settings)")
      #expect(verdict?.message.contains(words) == true, "\(settings): \(verdict?.message ?? "")")
      #expect(verdict?.message.contains("secret") != true || password == nil)
    }
    #expect(open([("host", "::1")]) == nil)
    #expect(open([("host", "[::1]")]) == nil)
    for host in ["bücher.example", "BÜCHER.example", "メール.example"] { #expect(open([("host", .text(host))]) == nil) }
    #expect(open([("host", "bü cher.example")])?.message.contains("\"host\"") == true)
  }

  @Test func `a local part that isn't ASCII goes only to servers that can take it`() throws {
    let peer = try Peer()
    peer.obey(#"{"offer": ["8BITMIME"]}"#)
    for setting in ["from", "to", "cc", "bcc"] {
      let verdict = try peer.deliver(FakeDelivery("x"), [(setting, "jürgen@example.org")])
      #expect(verdict.outcome == .refused)
      #expect(verdict.message.contains("SMTPUTF8"))
    }
    #expect(try peer.verbs.allSatisfy { $0 == "EHLO" || $0 == "QUIT" })
    peer.obey(#"{"offer": ["8BITMIME", "SMTPUTF8"]}"#)
    #expect(try peer.deliver(FakeDelivery("x"), [("to", "jürgen@example.org")]).outcome == .delivered)
    #expect(try peer.events.contains { $0.verb == "MAIL" && $0.line?.contains("SMTPUTF8") == true })
    #expect(try peer.mails.last?.recipients == ["jürgen@example.org"])
  }

  @Test func `the ports follow the encryption`() throws {
    for (security, port) in [("starttls", Int64(587)), ("tls", 465), ("none", 25)] {
      var settings = good
      settings.set("security", .text(security))
      var url = ""
      _ = try FakeHost(settings: settings).open { host throws(Verdict) in
        url = try SMTPSettings(host: host).url
        return try SMTPTarget(host: host)
      }
      #expect(url == "\(security == "tls" ? "smtps" : "smtp")://mail.example.org:\(port)/example.org")
    }
    #expect(SMTPTarget.manifest.contains("\"unit\": \"artifact\""))
  }

  @Test func `a check says what the server offers and sends no mail`() throws {
    let peer = try Peer(.starttls)
    peer.obey(
      #"{"offer": ["STARTTLS", "SIZE 9"], "offerTLS": ["AUTH PLAIN LOGIN", "SIZE 52428800", "SMTPUTF8"], "login": ["u", "right"]}"#
    )
    let verdict = try peer.host([("username", "u")], password: "right").open(SMTPTarget.self).check()
    #expect(verdict.outcome == .delivered)
    for words in ["encrypted", "logged in as u", "PLAIN, LOGIN", "52428800 bytes", "not ASCII"] {
      #expect(verdict.message.contains(words), "\(verdict.message)")
    }
    #expect(try peer.verbs == ["EHLO", "STARTTLS", "EHLO", "AUTH", "NOOP", "QUIT"])
    #expect(
      try peer.host([("username", "u")], password: "wrong").open(SMTPTarget.self).check().outcome == .needsAttention)
    peer.obey("{}")
    #expect(try peer.host().open(SMTPTarget.self).check().outcome == .needsAttention)
    for (phase, reply, outcome) in [
      ("greeting", "421 later", Verdict.Outcome.retry), ("EHLO", "550 no", .needsAttention),
      ("NOOP", "502 what?", .delivered),
    ] {
      let plain = try Peer()
      plain.obey(#"{"replies": {"\#(phase)": "\#(reply)", "HELO": "550 no"}}"#)
      let checked = try plain.host().open(SMTPTarget.self).check()
      #expect(checked.outcome == outcome, "\(phase): \(checked.message)")
      #expect(try plain.verbs.allSatisfy { ["EHLO", "HELO", "NOOP", "QUIT"].contains($0) })
    }
  }
}
