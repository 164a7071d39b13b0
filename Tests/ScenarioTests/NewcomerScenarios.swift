// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// What somebody does on the first day, and what must be told then.
@Suite struct `A newcomer` {
  @Test func `is told at once that a url without a scheme can't be used, and nothing is set aside`() throws {
    let host = try Installation()
    try host.configure(
      """
      {"id": "web", "extract": {"from": "inbox"}, "load": {"target": "http", "settings": {"url": "example.org/x"}}}
      """)
    let check = try host.run("check")
    #expect(check.status == 2 && check.problems.contains("[config.bad-url]"))
    // One that is a secret is seen for what it is only when it is used.
    try host.configure(
      """
      {"id": "web", "extract": {"from": "inbox"}, "load": {"target": "http", "settings": {"url": {"secret": "where"}}}}
      """)
    #expect(try host.run(["secret", "set", "where"], input: "example.org/x").status == 0)
    #expect(try host.run("check").status == 0)
    try host.start()
    try host.submit("web", "x")
    #expect(try host.reaches("web", "needs-attention"))
    #expect(try host.status("web")["attention"]?["code"]?.string == "delivery.needs-attention")
    #expect(host.refused("web").isEmpty && host.queue("web").count == 1)
    #expect(try host.deliveries("web").map { $0["verdict"]?.string } == ["needs-attention"])
  }

  @Test func `sees in status how many artifacts were set aside, also of a pipeline that has left`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/status/400"), Installation.filing("files"))
    try host.start()
    try host.submit("web", "x", name: "letter.txt")
    #expect(try eventually { try host.status("web")["refused"]?.integer == 1 })
    #expect(try host.run("status").output.contains("1 artifact was set aside"))
    #expect(try host.run("refused", "web").output.contains("letter.txt"))
    try host.configure(Installation.filing("files"))
    #expect(try eventually { try host.run("status", "web").status == 2 })
    let left = try host.run("status", "--json").json?["unconfigured"]?.array?.first
    #expect(left?["id"]?.string == "web" && left?["refused"]?.integer == 1)
    #expect(try host.run("refused", "web").output.contains("letter.txt"))
    #expect(try host.run("remove", "web", "--yes").output.contains("1 set aside"))
  }

  @Test func `learns by the exit code that a changed configuration isn't used`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    #expect(try host.run("status").status == 0)
    try host.write("pipelines.json", "{\"pipelines\": 5}")
    #expect(try eventually { try host.run("status").status == 4 })
  }

  @Test func `sees in status that an inbox folder is missing`() throws {
    let host = try Installation()
    try host.configure(
      """
      {"id": "in", "extract": {"from": "inbox", "directory": "nowhere"},
       "load": {"target": "folder", "settings": {"directory": "out"}}}
      """)
    try host.start()
    #expect(try eventually { try host.status("in")["trouble"]?.string?.contains("nowhere") == true })
  }

  @Test func `is told by check which secret nobody has set`() throws {
    let host = try Installation()
    try host.configure(
      """
      {"id": "web", "extract": {"from": "inbox"},
       "load": {"target": "http", "settings": {"url": "http://127.0.0.1:1/", "bearer": {"secret": "nobody"}}}}
      """)
    let answer = try host.run("check")
    #expect(answer.status == 0)
    #expect(answer.problems.contains("relay-host secret set nobody"))
  }

  @Test func `gets a word for an option that doesn't exist and for half a command`() throws {
    let host = try Installation()
    #expect(try host.run(["--confg", "x"]).problems.contains("--config"))
    let half = try host.run("secret")
    #expect(half.status == 2 && half.problems.contains("secret set NAME"))
  }

  @Test(.enabled(if: geteuid() == 0, "only root writes into others' folders"))
  func `as root doesn't write what the daemon's user couldn't read`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.submit("files", "x")
    let nobody = try #require(getpwnam("nobody")?.pointee.pw_uid)
    #expect(chown(host.state, nobody, .max) == 0)
    try host.write("later.txt", "y")
    let refused = try host.run("submit", "files", host.path + "/later.txt")
    #expect(refused.status == 4 && refused.problems.contains("sudo -u nobody"))
    #expect(host.queue("files").count == 1)
    // Looking is allowed; the targets are asked by workers of that user, who may read what they load.
    let targets = try host.run("targets", "--json").json?["targets"]?.array ?? []
    #expect(targets.count == 6 && targets.allSatisfy { $0["state"]?.string == "ready" }, "\(targets)")
  }
}
