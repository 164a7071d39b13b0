// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// The target `calendar-ics` in its worker, fed by the daemon.
@Suite struct `Calendars` {
  private static func events(_ titles: [String]) -> String {
    let listed = titles.enumerated().map {
      #"{"key": "k\#($0.offset)", "title": "\#($0.element)", "start": "2026-03-28T10:00:00Z", "end": "2026-03-28T11:00:00Z"}"#
    }
    return #"{"events": [\#(listed.joined(separator: ", "))]}"#
  }

  private static func pipeline(_ id: String, _ settings: String) -> String {
    #"""
    {"id": "\#(id)", "extract": {"from": "inbox"}, "delivery": {"spacing": "0s", "retryFirst": "100ms"},
     "load": {"target": "calendar-ics", "settings": {\#(settings)}}}
    """#
  }

  @Test func `three deliveries leave each key once in the file and on the server, after a crash too`() throws {
    let host = try Installation()
    let server = try Child([
      "/usr/bin/python3", Repository.path("Tests/Fixtures/servers/radicale_server.py"), "\(host.path)/radicale", "ada",
      "swordfish",
    ])
    let url = "http://127.0.0.1:\(server.line())/ada/workouts/"
    #expect(try host.shell("curl -sf -u ada:swordfish -X MKCALENDAR \(url)").status == 0)
    try host.configure(
      Self.pipeline("feed", #""file": "out/feed.ics""#),
      Self.pipeline("server", #""url": "\#(url)", "username": "ada", "password": {"secret": "cloud"}"#))
    #expect(try host.run(["secret", "set", "cloud"], input: "swordfish").status == 0)
    #expect(try host.shell("mkdir -p out").status == 0)
    let check = try host.run("check", "--online")
    #expect(check.status == 0, "\(check)")
    try host.start()
    for id in ["feed", "server"] {
      let test = try host.run("test", id)
      #expect(test.status == 0, "\(test)")
      #expect(test.output.contains("a test writes no events"))
    }
    #expect(host.names(in: "out").isEmpty)

    for (number, titles) in [["One", "Two"], ["One", "Changed"], ["One", "Changed", "Three"]].enumerated() {
      for id in ["feed", "server"] { try host.submit(id, Self.events(titles), name: "events.json") }
      if number == 1 {
        host.killHard()
        try host.start()
      }
      for id in ["feed", "server"] { #expect(try host.reaches(id, "idle"), "\(id)") }
    }
    let there = try host.shell("curl -sf -u ada:swordfish \(url)").output
    for text in [host.text(of: "out/feed.ics"), there] {
      let titles = text.split(separator: "\r\n").filter { $0.hasPrefix("SUMMARY:") }.sorted()
      #expect(titles == ["SUMMARY:Changed", "SUMMARY:One", "SUMMARY:Three"])
      #expect(text.contains("SEQUENCE:1\r\n"))
    }
  }

  @Test func `the largest part costs a worker a bounded memory, and one bad event in it refuses it`() throws {
    let host = try Installation()
    try host.configure(Self.pipeline("feed", #""file": "out/feed.ics""#))
    try host.start()
    // About as many events as 16 MB can hold; the last has no key.
    let made = try host.shell(
      #"python3 -c "print('{\"events\": [' + ''.join('{\"key\":\"%d\",\"title\":\"t\",\"start\":\"2026-03-28\",\"end\":\"2026-03-28\",\"allDay\":true},' % n for n in range(200000)) + '{}]}')" > large.json; "#
        + "relay submit feed large.json")
    #expect(made.status == 0, "\(made.problems)")
    var most = 0
    let isRefused = eventually(within: 240) {
      most = max(most, ProcessTable.workers(of: host.pid).map(ProcessTable.residentBytes).max() ?? 0)
      return host.refused("feed").count == 1
    }
    #expect(isRefused)
    #expect(most > 16 << 20)
    #expect(Sanitizer.isOn || most < 96 << 20, "\(most) bytes at most")
    #expect(host.deliveriesOnDisk("feed").last?["message"]?.string?.hasPrefix("event 200001: ") == true)
    #expect(!host.names(in: "out").contains("feed.ics"))
  }
}
