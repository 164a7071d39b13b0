// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayTestSupport
import ScenarioSupport
import Testing

/// What is told must be true, and what is asked of a person must help.
@Suite struct `What people are told` {
  @Test func `to end a stop is no more than ends it`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("keyed", "/status/200")
    try host.configure(
      receiver.pipeline("keyed", "/script/keyed", settings: "\"bearer\": {\"secret\": \"key\"}"),
      receiver.pipeline("wrong", "/status/401"),
      Installation.fixture("early", settings: "\"mode\": \"ok\"", delivery: "\"spacing\": \"0s\""))
    try host.start()
    for id in ["keyed", "wrong", "early"] {
      try host.submit(id, "x")
      #expect(try host.reaches(id, "needs-attention"))
    }
    let text = try host.run("status").output
    #expect(text.contains("relay-host resume wrong\n"), "\(text)")
    #expect(!text.contains("relay-host resume early"), "\(text)")
    #expect(text.contains("Once that is mended, it goes on by itself."), "\(text)")
    #expect(try host.status("keyed")["attention"]?["code"]?.string == "secret.not-found")
    #expect(text.contains("After `relay-host secret set` it goes on by itself"), "\(text)")
    let retried = try host.run("retry", "early")
    #expect(retried.status == 4 && retried.problems.contains("[delivery.target-missing]"), "\(retried)")

    // And it is so.
    #expect(try host.run(["secret", "set", "key"], input: "abcdefgh").status == 0)
    #expect(try host.reaches("keyed", "idle"))
    try host.link(try FixtureTarget.compile("hostile"), as: "libhostile.so")
    #expect(try host.reaches("early", "idle"))
  }

  @Test func `of a destination that is away for now is 3, be it a test or a check`() throws {
    let host = try Installation()
    try host.configure(
      """
      {"id": "away", "extract": {"from": "inbox"},
       "load": {"target": "http", "settings": {"url": "http://127.0.0.1:1/"}}}
      """)
    #expect(try host.run("test", "away").status == 3)
    #expect(try host.run("check", "--online").status == 3)
  }

  @Test func `of a wrong file is the same by daemon, check, reload and commands`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    // One mistake that needs no target to be found, and one in a target's settings.
    try host.write(
      "pipelines.json",
      """
      {"wokers": 4, "pipelines": [{"id": "files", "extract": {"from": "inbox"},
        "load": {"target": "folder", "settings": {"directory": 5}}}]}
      """)
    #expect(try host.run("check").problems.contains("2 mistakes"))
    #expect(try host.run("reload").problems.contains("2 mistakes"))
    #expect(try host.run("reload").problems.contains("[config.unknown-key]"))
    host.stop()
    #expect(try host.shell("relay").problems.contains("2 mistakes"))
    #expect(try host.run("status").problems.contains("2 mistakes"))

    try host.configure(Installation.filing("files"))
    try host.start()
    try host.write("pipelines.json", "{\"pipelines\": [],}")
    #expect(try host.run("check").problems.contains("[json.trailing-comma]"))
    #expect(try host.run("reload").problems.contains("[json.trailing-comma]"))
  }

  @Test func `of an empty file leads to one that is good`() throws {
    let host = try Installation()
    try host.write("pipelines.json", "")
    #expect(try host.run("check").problems.contains("write at least {\"pipelines\": []}"))
    try host.write("pipelines.json", "{\"pipelines\": []}")
    #expect(try host.run("check").status == 0)
  }

  @Test func `of an unknown name in a template has the code for it`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/{{ file.nam }}"))
    #expect(try host.run("check").problems.contains("[template.unknown-name]"))
    try host.configure(receiver.pipeline("web", "/{{ file.name"))
    #expect(try host.run("check").problems.contains("[template.syntax]"))
  }

  @Test func `of a secret without a value is 2, and the old value stays`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    #expect(try host.run(["secret", "set", "scans"], input: "abcdefgh").status == 0)
    for (input, words) in [("", "Nothing was read"), ("\n", "Only a line break was read")] {
      let answer = try host.run(["secret", "set", "scans"], input: input)
      #expect(answer.status == 2 && answer.problems.contains(words), "\(answer)")
    }
    #expect(host.text(of: "relay-data/secrets/scans") == "abcdefgh")
  }

  @Test func `of a command's parts is laid out as of any command`() throws {
    let help = try Installation().run("secret", "--help")
    #expect(help.status == 0)
    for words in ["Usage: relay-host secret set NAME", "\nOptions:\n", "\nExamples:\n", "--json"] {
      #expect(help.output.contains(words), "\(help.output)")
    }
  }
}
