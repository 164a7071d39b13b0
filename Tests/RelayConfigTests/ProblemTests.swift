// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@Suite struct `Problems of pipelines.json` {
  @Test func `six mistakes are told in one pass`() throws {
    let folder = "\(PathRules.parent(of: #filePath))/Golden"
    let bytes = try #require(try Directory(folder).content(of: "six-mistakes.json"))
    let (configuration, problems) = ConfigurationReader.read(
      bytes: bytes, file: "pipelines.json", targets: Samples.targets,
      environment: ConfigurationEnvironment(currentDirectory: "/srv/relay"))
    #expect(configuration == nil)
    #expect(problems.count == 6)
    try expectGolden(problems.map(\.text).joined(), "six-mistakes.txt")
    var writer = JSONWriter(style: .pretty)
    writer.beginArray()
    for problem in problems { problem.write(to: &writer) }
    writer.endArray()
    try expectGolden(String(decoding: writer.bytes, as: UTF8.self), "six-mistakes-diagnostics.json")
    let text = problems.map(\.text).joined()
    #expect(!text.contains("hunter2"))
  }

  @Test(arguments: [
    ("[]", ["config.wrong-type"]), ("{}", ["config.missing-key"]), ("{\"pipelines\": [],}", ["json.trailing-comma"]),
    ("{\"pipelines\": []} // end", ["json.comment"]), (#"{"pipelines": {}}"#, ["config.wrong-type"]),
    (#"{"pipelines": [], "pipelines": []}"#, ["config.duplicate-key"]), (#"{"pipelines": [3]}"#, ["config.wrong-type"]),
    (#"{"pipelines": [], "workers": 0}"#, ["config.out-of-range"]),
    (#"{"pipelines": [], "workers": 1.5}"#, ["config.wrong-type"]),
    (#"{"pipelines": [], "workers": 01}"#, ["json.bad-number"]),
    (#"{"pipelines": [], "workers": 99999999999999999999}"#, ["config.wrong-type"]),
    (#"{"pipelines": [], "weekStart": "mondy"}"#, ["config.bad-value"]),
    (#"{"pipelines": [], "timeZone": "../../etc/passwd"}"#, ["config.bad-zone"]),
    (#"{"pipelines": [], "timeZone": []}"#, ["config.out-of-range"]),
    (#"{"pipelines": [], "timeZone": [{"from": "2025-02-29", "zone": "UTC"}]}"#, ["config.bad-date"]),
    (#"{"pipelines": [], "state": ""}"#, ["config.bad-value"]),
    (#"{"pipelines": [], "mailDomain": "a b"}"#, ["config.bad-value"]),
    (#"{"pipelines": [], "server": {}}"#, ["config.missing-key"]),
    (#"{"pipelines": [], "server": {"listen": "8480"}}"#, ["config.bad-address"]),
    (#"{"pipelines": [], "server": {"listen": "h:99999"}}"#, ["config.bad-address"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "token": "x"}}"#, ["secret.plain-text"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "token": {"secret": "X"}}}"#, ["secret.bad-name"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "tls": "self"}}"#, ["config.bad-value"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "tls": {"key": "k"}}}"#, ["config.missing-key"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "publicUrl": "ftp://h"}}"#, ["config.bad-url"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "maxBody": "1MiB"}}"#, ["config.bad-size"]),
    (#"{"pipelines": [], "server": {"listen": "h:1", "maxBody": "99999999TB"}}"#, ["config.bad-size"]),
  ])
  func `the file's own keys are checked`(text: String, codes: [String]) {
    #expect(Samples.mistakes(text) == codes)
  }

  @Test(arguments: [
    (#""trigger": "arive""#, ["config.bad-value"]), (#""trigger": {"evry": "1m"}"#, ["config.missing-key"]),
    (#""trigger": {"every": "1 m"}"#, ["config.bad-duration"]),
    (#""trigger": {"every": "10ms"}"#, ["config.out-of-range"]),
    (#""trigger": {"at": "24:00"}"#, ["config.bad-time"]),
    (#""trigger": {"at": "06:30", "days": []}"#, ["config.out-of-range"]),
    (#""trigger": {"at": "06:30", "days": ["mo"]}"#, ["config.bad-value"]), (#""trigger": 5"#, ["config.wrong-type"]),
    (#""trigger": {"every": "1m", "at": "06:30"}"#, ["config.unknown-key"]),
    (#""paused": "yes""#, ["config.wrong-type"]),
    (#""delivery": {"spacing": 5}"#, ["config.wrong-type"]),
    (#""delivery": {"timeout": "0s"}"#, ["config.out-of-range"]),
    (#""delivery": {"timout": "5s"}"#, ["config.unknown-key"]),
    (#""delivery": {"encode": "zstd"}"#, ["config.bad-value"]),
    (#""delivery": {"retryFirst": "2h", "retryMax": "1h"}"#, ["config.out-of-range"]),
    (#""delivery": {"keepDelivered": true}"#, ["config.wrong-type"]),
    (#""delivery": {"maxQueued": {"artifacts": 0}}"#, ["config.out-of-range"]),
    (#""notify": {"through": "b"}"#, ["config.unknown-pipeline"]),
    (#""notify": {"through": "a"}"#, ["config.notify-itself"]),
    (#""notify": {"overdue": "soon"}"#, ["config.bad-duration"]),
    (#""transform": {"format": "native"}"#, ["config.inbox-takes-no-transform"]),
    (#""name": null"#, ["config.wrong-type"]), (#""name": """#, ["config.bad-value"]),
  ])
  func `a pipeline's keys are checked`(pipeline: String, codes: [String]) {
    #expect(Samples.mistakes(Samples.file(pipeline: pipeline)) == codes)
  }

  @Test(arguments: [
    (#"{"from": "health", "range": "today"}"#, "", ["config.native-needs-changed-days"]),
    (#"{"from": "health", "range": "today"}"#, #""transform": {"template": "csv"}"#, []),
    (#"{"from": "health", "sections": ["metrics"]}"#, "", ["config.native-needs-all-sections"]),
    (#"{"from": "health", "sections": ["metrics"]}"#, #""transform": {"template": "csv"}"#, []),
    (#"{"from": "health", "range": "ask"}"#, #""transform": {"template": "csv"}"#, []),
    (
      #"{"from": "health", "range": "ask"}"#, #""transform": {"template": "csv"}, "trigger": {"every": "1h"}"#,
      ["config.ask-needs-manual"]
    ),
    (#"{"from": "health"}"#, #""trigger": "arrival""#, ["config.arrival-needs-inbox"]),
    (#"{"from": "health", "directory": "/x"}"#, "", ["config.key-needs-inbox"]),
    (
      #"{"from": "inbox", "range": "today", "routes": true}"#, "",
      ["config.key-needs-health", "config.key-needs-health"]
    ),
    (
      #"{"from": "health", "range": {"from": "2026-02-01", "to": "2026-01-31"}}"#, #""transform": {"template": "csv"}"#,
      ["config.reversed-range"]
    ),
    (#"{"from": "health", "range": {"lastDays": 0}}"#, #""transform": {"template": "csv"}"#, ["config.out-of-range"]),
    (#"{"from": "helth"}"#, "", ["config.bad-value"]), (#"{}"#, "", ["config.missing-key"]),
    (#"{"from": "inbox"}"#, #""trigger": "manual""#, ["config.not-yet"]),
    (#"{"from": "inbox"}"#, #""trigger": "health-changes""#, ["config.not-yet"]),
    (#"{"from": "inbox"}"#, #""trigger": "arrival""#, []), (#"{"from": "inbox"}"#, #""trigger": {"every": "1h"}"#, []),
  ])
  func `pairs that do not go together are told, each by its own code`(
    extract: String, pipeline: String, codes: [String]
  ) {
    let found = Samples.codes(Samples.file(pipeline: pipeline, extract: extract)).filter {
      $0 != "config.health-not-run"
    }
    #expect(found == codes)
  }

  @Test func `thousands of mistakes on one line cost little, and the first hundred are told`() {
    let keys = (0..<20_000).map { "\"k\($0)\": 1" }.joined(separator: ",")
    let (configuration, problems) = Samples.read("{\"pipelines\": [], \(keys)}")
    #expect(configuration == nil)
    #expect(problems.count == 101)
    #expect(problems.last?.code == .configTooMany)
    #expect(problems.allSatisfy { ($0.place?.sourceLine.utf8.count ?? 0) <= 64_000 })
  }

  @Test func `two pipelines may share neither id nor inbox`() throws {
    let folder = try TemporaryFolder()
    try Directory(folder.path).makeFolder("in")
    func pipeline(_ id: String, _ extract: String) -> String {
      #"{"id": "\#(id)", "extract": \#(extract), "load": {"target": "folder", "settings": {"directory": "/srv/out"}}}"#
    }
    let both = [
      pipeline("a", #"{"from": "inbox", "directory": "\#(folder.path)/in"}"#),
      pipeline("b", #"{"from": "inbox", "directory": "\#(folder.path)/./in/"}"#), pipeline("c", #"{"from": "inbox"}"#),
      pipeline("c", #"{"from": "inbox"}"#),
      pipeline("d", #"{"from": "inbox", "directory": "relay-data/pipelines/c/inbox"}"#),
    ]
    let problems = Samples.read(#"{"pipelines": [\#(both.joined(separator: ","))]}"#).problems
    #expect(problems.map(\.code) == [.configDuplicateInbox, .configDuplicateID, .configProtectedPath])
    #expect(problems.first?.message.contains(#"pipeline "a""#) == true)
  }

  @Test(arguments: [
    ([("a", "one", "one")], ["a"]), ([("a", "one", "two"), ("b", "two", "one")], ["a", "b"]),
    ([("a", "one", "two"), ("b", "two", "three"), ("c", "three", "two")], ["b", "c"]),
    ([("a", "one", "two"), ("b", "two", "three")], []), ([("a", "one", "./link")], ["a"]),
    ([("a", "one", "one/deeper")], ["a"]),
  ])
  func `what is delivered never comes back into the inbox it came from`(
    pipelines: [(id: String, from: String, to: String)], loops: [String]
  ) throws {
    let folder = try TemporaryFolder()
    for name in ["one", "two", "three"] { try Directory(folder.path).makeFolder(name) }
    #expect(symlinked("one", at: "\(folder.path)/link"))
    let texts = pipelines.map { id, from, to in
      #"{"id": "\#(id)", "extract": {"from": "inbox", "directory": "\#(from)"}, "#
        + #""load": {"target": "folder", "settings": {"directory": "\#(to)"}}}"#
    }
    let environment = ConfigurationEnvironment(currentDirectory: folder.path)
    let problems = Samples.read(
      #"{"state": "/var/lib/s", "pipelines": [\#(texts.joined(separator: ","))]}"#, environment: environment
    ).problems
    #expect(problems.map(\.code) == loops.map { _ in .configLoop })
  }

  @Test(arguments: [
    #"{"target": "htttp", "settings": {"url": "u", "basic": {"password": "hunter2"}}}"#,
    #"{"target": "http", "settings": {"url": "u", "basic": "me:hunter2"}}"#,
    #"{"target": "http", "settings": {"url": "u", "baerer": "hunter2"}}"#,
    #"{"target": "http", "settings": {"url": "u", "bearer": "hunter2", "bearer": "hunter2"}}"#,
    #"{"target": "http", "settings": {"url": "u", "bearer": "hunter2",, "x": 1}}"#,
    #"{"target": "http", "settings": {"url": "u", "bearer": "hunter2"]}"#,
    #"{"target": "http", "settings": {"url": "u", "bearer": "hunter2}}"#,
    #"{"target": "http", "settings": {"url": "u", "bearer": ["hunter2"]}}"#,
  ])
  func `no source line shows what may be a secret`(load: String) {
    let problems = Samples.read(Samples.file(load: load)).problems
    #expect(!problems.isEmpty)
    #expect(!problems.map(\.text).joined().contains("hunter2"))
    let token = Samples.file(load: load, root: #""server": {"listen": "h:1", "token": "swordfish"},"#)
    #expect(!Samples.read(token).problems.map(\.text).joined().contains("swordfish"))
  }

  @Test(arguments: ["a", "a-1", String(repeating: "x", count: 63)])
  func `an id of the right form is taken`(id: String) {
    #expect(Names.isID(id))
  }

  @Test(arguments: ["", "-a", "A", "a_b", "ä", "a.b", "a/b", String(repeating: "x", count: 64)])
  func `an id of another form is not`(id: String) {
    let text = Samples.file().replacing(#""id": "a""#, with: #""id": "\#(id)""#)
    #expect(Samples.codes(text) == ["config.bad-id"])
  }

  @Test func `zones are looked up on this machine`() {
    let environment = ConfigurationEnvironment(currentDirectory: "/srv/relay", zoneFolder: "/usr/share/zoneinfo")
    func codes(_ zone: String) -> [DiagnosticCode] {
      Samples.read(Samples.file(root: #""timeZone": "\#(zone)","#), environment: environment).problems.map(\.code)
    }
    #expect(codes("Europe/Berlin") == [])
    #expect(codes("Europe/Berln") == [.configBadZone])
  }

  @Test func `any mutation of a file gives values or errors`() {
    let seed = Array(
      Samples.file(
        pipeline: #""trigger": {"at": "06:30"}, "delivery": {"spacing": "1s", "maxQueued": {"bytes": "1GB"}}"#,
        load: #"{"target": "http", "settings": {"url": "http://h/{{ file.name }}", "bearer": {"secret": "ha"}}}"#,
        root: #""state": "s", "timeZone": "UTC", "server": {"listen": "h:1"},"#
      ).utf8)
    var state: UInt64 = 7
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<1000 {
      var bytes = seed
      for _ in 0...random(3) {
        let place = random(bytes.count)
        switch random(3) {
        case 0: bytes[place] = UInt8(random(256))
        case 1: bytes.remove(at: place)
        default: bytes.insert(seed[random(seed.count)], at: place)
        }
      }
      let (configuration, problems) = ConfigurationReader.read(bytes: bytes, file: "f", targets: Samples.targets)
      #expect((configuration == nil) == problems.contains { $0.blocksLoading })
    }
  }
}
