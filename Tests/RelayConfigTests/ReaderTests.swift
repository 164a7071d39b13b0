// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@Suite struct `Reading pipelines.json` {
  @Test func `all keys become values`() throws {
    let text = #"""
      {
        "$schema": "./pipelines.schema.json", "state": "state", "targets": ["/opt/targets", "more"],
        "timeZone": [{"from": "2024-05-01", "zone": "Europe/Berlin"}, {"from": "2020-02-29", "zone": "Etc/GMT+3"}],
        "weekStart": "sunday", "workers": 8, "confinement": "required", "mailDomain": "example.org",
        "sourceOrder": ["phone"],
        "server": {"listen": "[::1]:8480", "token": {"secret": "console"}, "tls": {"certificate": "c.pem", "key": "/k.pem"},
          "publicUrl": "https://relay.example.org", "maxBody": "10MB"},
        "pipelines": [
          {"id": "a", "name": "A", "paused": true, "trigger": {"at": "06:30", "days": ["tue", "mon"]},
            "extract": {"from": "inbox", "directory": "in"},
            "load": {"target": "folder", "settings": {"directory": "out"}},
            "delivery": {"spacing": "0s", "retryFirst": "2m", "retryMax": "1d", "timeout": "500s", "encode": "gzip",
              "onUnsure": "hold", "maxQueued": {"bytes": "5MB"}, "keepDelivered": "1w", "maxRefused": "2GB"},
            "notify": {"failed": true, "finished": true, "ready": true, "overdue": "10m", "through": "b"}},
          {"id": "b", "extract": {"from": "inbox"}, "load": {"target": "folder", "settings": {"directory": "/o"}},
            "trigger": {"every": "15m"}, "delivery": {"keepDelivered": 7}}
        ]
      }
      """#
    let (read, problems) = Samples.read(text)
    #expect(problems.filter { $0.code != .configNotYet }.map(\.headline) == [])
    // What has no effect yet is said: server, a's trigger, keepDelivered and notify, b's keepDelivered.
    #expect(problems.count { $0.code == .configNotYet } == 7)
    let configuration = try #require(read)
    #expect(configuration.file == "/srv/relay/pipelines.json")
    #expect(configuration.state == "/srv/relay/state")
    #expect(configuration.targets == ["/opt/targets", "/srv/relay/more"])
    guard case .periods(let periods) = configuration.timeZone else {
      Issue.record("no periods")
      return
    }
    #expect(periods.map(\.zone) == ["Etc/GMT+3", "Europe/Berlin"])
    #expect(configuration.weekStart == .sunday)
    #expect(configuration.workers == 8)
    #expect(configuration.confinement == .required)
    #expect(configuration.mailDomain == "example.org")
    #expect(configuration.sourceOrder == ["phone"])
    #expect(
      configuration.server
        == ServerConfiguration(
          listen: .tcp(host: "::1", port: 8480), tokenSecret: "console",
          tls: .files(certificate: "/srv/relay/c.pem", key: "/k.pem"), publicURL: "https://relay.example.org",
          maxBody: 10_000_000))
    let first = try #require(configuration.pipelines.first)
    #expect(first.name == "A")
    #expect(first.paused)
    #expect(try first.trigger == .at(#require(TimeOfDay("06:30")), days: [.monday, .tuesday]))
    #expect(first.extract == .inbox(directory: "/srv/relay/in"))
    #expect(first.transform == nil)
    #expect(first.load.target == .known("folder"))
    #expect(
      first.delivery
        == DeliveryConfiguration(
          spacing: 0, retryFirst: 120_000, retryMax: 86_400_000, timeout: 500_000, compressesGzip: true,
          onUnsure: .hold,
          maxQueuedBytes: 5_000_000, maxQueuedArtifacts: 10_000, keepDelivered: .milliseconds(604_800_000),
          maxRefusedBytes: 2_000_000_000))
    #expect(
      first.notify
        == NotifyConfiguration(failed: true, finished: true, ready: true, overdue: 600_000, through: "b"))
    #expect(configuration.pipelines[1].trigger == .every(milliseconds: 900_000))
    #expect(configuration.pipelines[1].delivery.keepDelivered == .artifacts(7))
    #expect(configuration.pipelines[1].extract == .inbox(directory: "/srv/relay/state/pipelines/b/inbox"))
  }

  @Test func `what is left out has the documented default`() throws {
    let configuration = try #require(Samples.read(Samples.file()).configuration)
    #expect(configuration.state == "/srv/relay/relay-data")
    #expect(configuration.timeZone == .machine)
    #expect(configuration.weekStart == .monday)
    #expect(configuration.workers == 64)
    #expect(configuration.confinement == nil)
    #expect(configuration.sourceOrder == ["watch", "phone", "others"])
    #expect(configuration.server == nil)
    let pipeline = try #require(configuration.pipelines.first)
    #expect(pipeline.name == "a")
    #expect(!pipeline.paused)
    #expect(pipeline.trigger == .arrival)
    #expect(
      pipeline.delivery
        == DeliveryConfiguration(
          spacing: 1000, retryFirst: 60_000, retryMax: 21_600_000, timeout: 30_000, compressesGzip: false,
          onUnsure: .retry, maxQueuedBytes: 10_000_000_000, maxQueuedArtifacts: 10_000, keepDelivered: .none,
          maxRefusedBytes: 1_000_000_000))
    #expect(pipeline.notify == NotifyConfiguration(failed: false, finished: false, ready: false))
  }

  @Test func `a health pipeline is read whole and told not to run`() throws {
    let text = Samples.file(
      pipeline: #""transform": {"template": "csv"}, "trigger": "health-changes""#,
      extract: #"""
        {"from": "health", "range": {"from": "2026-01-01", "to": "2026-01-31"}, "sections": ["metrics", "ecg"],
         "metrics": ["step_count"], "workoutTypes": ["run"], "routes": true, "workoutDetail": "second",
         "workoutMetadata": true, "grouping": {"every": "5m"}, "sources": {"preferred": ["Watch"]}, "sleep": "samples"}
        """#)
    let (read, problems) = Samples.read(text)
    #expect(problems.map(\.code) == [.configHealthNotRun])
    #expect(problems.map(\.severity) == [.warning])
    let pipeline = try #require(read?.pipelines.first)
    #expect(pipeline.needsHealthStore)
    #expect(pipeline.transform == .template("csv"))
    #expect(pipeline.trigger == .healthChanges)
    let from = try #require(CalendarDate("2026-01-01"))
    let to = try #require(CalendarDate("2026-01-31"))
    #expect(
      pipeline.extract
        == .health(
          HealthExtract(
            range: .dates(from: from, to: to), sections: [.metrics, .ecg], metrics: ["step_count"],
            workoutTypes: ["run"], routes: true, workoutDetail: .second, workoutMetadata: true,
            grouping: .every(milliseconds: 300_000), sources: .preferred(["Watch"]), sleep: .samples)))
  }

  @Test(arguments: [
    (#"{"from": "health"}"#, ExtractRange.changedDays), (#"{"from": "health", "range": "changed-days"}"#, .changedDays),
  ])
  func `native is the default for health data`(extract: String, range: ExtractRange) throws {
    let pipeline = try #require(Samples.read(Samples.file(extract: extract)).configuration?.pipelines.first)
    #expect(pipeline.transform == .native)
    guard case .health(let health) = pipeline.extract else {
      Issue.record("not health")
      return
    }
    #expect(health.range == range)
    #expect(health.sections == [.metrics])
    #expect(health.grouping == .unit(.day))
  }

  @Test(arguments: [
    ("/srv/relay/x.json", nil, "/srv/relay/relay-data"), ("/etc/relay-host/x.json", nil, "/var/lib/relay-host"),
    ("/etc/relay-host/x.json", "/run/state:/other", "/run/state"), ("x.json", nil, "/srv/cwd/relay-data"),
    ("../x.json", nil, "/srv/cwd/../relay-data"),
  ])
  func `the state folder has its default`(file: String, variable: String?, expected: String) throws {
    let environment = ConfigurationEnvironment(currentDirectory: "/srv/cwd", stateDirectory: variable)
    let read = Samples.read(Samples.file(), file: file, environment: environment)
    #expect(try #require(read.configuration).state == expected)
  }

  @Test func `an unknown target leaves the others alone`() throws {
    let (read, problems) = Samples.read(Samples.file(load: #"{"target": "htttp", "settings": {"x": 1}}"#))
    #expect(problems.map(\.code) == [.configUnknownTarget])
    #expect(problems.first?.hint == #"did you mean "http"?"#)
    let load = try #require(read?.pipelines.first?.load)
    #expect(load.target == .unknown("htttp"))
    #expect(String(decoding: load.settings.json, as: UTF8.self) == #"{"x":1}"#)
  }

  @Test func `the fingerprint changes with a pipeline's own settings and with nothing else`() throws {
    func fingerprint(_ text: String) throws -> String {
      try #require(Samples.read(text).configuration?.pipelines.first).fingerprint
    }
    let plain = try fingerprint(Samples.file())
    #expect(plain.utf8.count == 32)
    let reordered = #"{"settings":{"directory":"/srv/out"},   "target":"folder"}"#
    #expect(try fingerprint(Samples.file(load: reordered)) == plain)
    #expect(try fingerprint(Samples.file(pipeline: #""name": "x""#, root: #""workers": 3,"#)) == plain)
    #expect(try fingerprint(Samples.file(pipeline: #""delivery": {"spacing": "2s"}"#)) != plain)
    #expect(
      try fingerprint(Samples.file(load: #"{"target": "folder", "settings": {"directory": "/srv/uot"}}"#)) != plain)
  }

  @Test func `equal text makes equal pipelines`() throws {
    let once = try #require(Samples.read(Samples.file()).configuration?.pipelines)
    #expect(try once == #require(Samples.read("\n" + Samples.file()).configuration?.pipelines))
    #expect(try once != #require(Samples.read(Samples.file(pipeline: #""paused": true"#)).configuration?.pipelines))
  }
}
