// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayTestSupport
import ScenarioSupport
import TestPrograms
import Testing

/// The target `mqtt` in its worker, fed by the daemon.
@Suite struct `MQTT` {
  private let host: Installation
  private let broker: Child
  private let port: String

  init() throws {
    let host = try Installation()
    self.host = host
    #expect(
      try host.shell("mkdir broker && mosquitto_passwd -b -c broker/passwords relay swordfish").status == 0)
    broker = try Child([
      "python3", Repository.path("Tests/Fixtures/servers/mosquitto.py"), "\(host.path)/broker",
      "password_file %s/passwords", "persistence true", "persistence_location %s/",
    ])
    port = broker.line()
  }

  /// Reads back what the broker passes on, as "topic payload" lines in a file.
  private func read(_ filter: String, _ count: Int, into file: String) throws {
    let command =
      "mosquitto_sub -h 127.0.0.1 -p \(port) -u relay -P swordfish -i reader -c -q 1 -t '\(filter)' -v -C \(count) -W 60 > \(file)"
    #expect(try host.shell(command).status == 0)
  }

  @Test func `the example makes a sensor, whose value and description outlive the broker`() throws {
    let text = try Repository.text(of: "Examples/home-assistant-discovery/pipelines.json")
      .replacing(#""host": "homeassistant.local","#, with: #""host": "127.0.0.1", "port": \#(port),"#)
    try host.write("pipelines.json", text)
    #expect(try host.run(["secret", "set", "mqtt"], input: "swordfish").status == 0)
    let check = try host.run("check", "--online")
    #expect(check.status == 0 && check.output.contains("MQTT 5") && check.problems.isEmpty, "\(check)")
    try host.start()
    let test = try host.run("test", "scales")
    #expect(test.status == 0, "\(test)")
    try host.submit("scales", #"{"state": "81.2"}"#, name: "weight.json")
    #expect(try host.reaches("scales", "idle"))
    #expect(broker.ask("restart") == "ok")
    try read("#", 2, into: "kept")
    let lines = host.text(of: "kept").split(separator: "\n").sorted()
    #expect(lines.last == #"relay-host/scales/weight {"state": "81.2"}"#)
    let described = try #require(lines.first.flatMap { $0.firstIndex(of: "{").map { $0..<lines[0].endIndex } })
    let node = try JSONTree.parse(Array(lines[0][described].utf8))
    #expect(lines[0].hasPrefix("homeassistant/sensor/scales/weight/config "))
    #expect(node["unique_id"]?.string == "relay_host_scales_weight")
    #expect(node["value_template"]?.string == "{{ value_json.state }}")
    #expect(node["device"]?["name"]?.string == "Scales")
  }

  @Test func `a wrong password stops the pipeline, the right one goes on, and a broker that is away is waited for`()
    throws
  {
    try host.configure(
      #"""
      {"id": "scales", "extract": {"from": "inbox"}, "delivery": {"spacing": "0s", "retryFirst": "100ms"},
       "load": {"target": "mqtt", "settings": {"host": "127.0.0.1", "port": \#(port), "username": "relay",
                                               "password": {"secret": "mqtt"}, "topic": "scales/{{ file.stem }}", "qos": 2}}}
      """#)
    // A subscription that outlives its connection, so that nothing goes by.
    let subscribed = try host.shell(
      "mosquitto_sub -h 127.0.0.1 -p \(port) -u relay -P swordfish -i reader -c -q 2 -t 'scales/#' -E")
    #expect(subscribed.status == 0, "\(subscribed)")
    #expect(try host.run(["secret", "set", "mqtt"], input: "sturgeon").status == 0)
    try host.start()
    try host.submit("scales", "one", name: "a.txt")
    #expect(try host.reaches("scales", "needs-attention"))
    #expect(try host.status("scales")["lastVerdict"]?["message"]?.string?.contains("username") == true)
    let attempts = host.text(of: "broker/log").split(separator: "\n").count { $0.contains("not authorised") }
    #expect(attempts == 1)
    #expect(try host.run(["secret", "set", "mqtt"], input: "swordfish").status == 0)
    #expect(broker.ask("stop") == "ok")
    #expect(try host.run("retry", "scales").status == 0)
    #expect(try host.reaches("scales", "waiting"))
    for number in 1...20 { try host.submit("scales", "\(number)", name: "b\(number).txt") }
    #expect(broker.ask("start") == "ok")
    #expect(try host.reaches("scales", "idle"))
    try read("scales/#", 21, into: "came")
    let came = host.text(of: "came").split(separator: "\n").map(String.init)
    #expect(came == ["scales/a one"] + (1...20).map { "scales/b\($0) \($0)" })
  }

  @Test func `a part of 60 MB costs the worker three times its size at most`() throws {
    try host.configure(
      #"""
      {"id": "large", "extract": {"from": "inbox"},
       "load": {"target": "mqtt", "settings": {"host": "127.0.0.1", "port": \#(port), "username": "relay",
                                               "password": {"secret": "mqtt"}, "topic": "large"}}}
      """#)
    #expect(try host.run(["secret", "set", "mqtt"], input: "swordfish").status == 0)
    try host.start()
    #expect(try host.shell("head -c 60000000 /dev/urandom > large.bin; relay submit large large.bin").status == 0)
    var most = 0
    #expect(
      try eventually(within: 60) {
        most = max(most, ProcessTable.workers(of: host.pid).map(ProcessTable.residentBytes).max() ?? 0)
        return try host.status("large")["lastVerdict"]?["code"]?.string == "delivered"
      })
    print("MQTT: a part of 60 MB took a worker of at most \(most / 1_000_000) MB")
    // What the library holds, what it sends, and what was read.
    #expect(most > 60_000_000)
    #expect(Sanitizer.isOn || most < 3 * 60_000_000 + 40_000_000, "\(most) bytes at most")
  }
}
