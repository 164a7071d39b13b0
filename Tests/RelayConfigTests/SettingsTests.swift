// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelaySystem
import Testing

@Suite struct `Settings of a target` {
  private func resolve(_ settings: String, target: String = "http") throws -> ResolvedSettings {
    let (configuration, problems) = Samples.read(
      Samples.file(load: #"{"target": "\#(target)", "settings": \#(settings)}"#))
    #expect(problems.filter(\.blocksLoading).map(\.headline) == [])
    return try #require(configuration?.pipelines.first).load.settings
  }

  private func problems(
    _ settings: String, target: String = "http", environment: ConfigurationEnvironment? = nil
  ) -> [Diagnostic] {
    let text = Samples.file(load: #"{"target": "\#(target)", "settings": \#(settings)}"#)
    return Samples.read(text, environment: environment).problems
  }

  @Test func `they are flattened with defaults, templates and secrets apart`() throws {
    let settings = try resolve(
      #"""
      {"url": "https://h/{{ file.name }}", "headers": {"X/Y": "1", "Auth": {"secret": "auth"}}, "retries": 2.0,
       "basic": {"username": "u", "password": {"secret": "pw"}}, "ratio": 0.5, "successStatuses": [200, 204]}
      """#)
    #expect(
      settings.entries == [
        .init(path: "headers", value: .object(names: ["X/Y", "Auth"])), .init(path: "headers/X~1Y", value: .text("1")),
        .init(path: "retries", value: .integer(2)),
        .init(path: "basic", value: .object(names: ["username", "password"])),
        .init(path: "basic/username", value: .text("u")), .init(path: "ratio", value: .real(0.5)),
        .init(path: "successStatuses", value: .list(count: 2)), .init(path: "successStatuses/0", value: .integer(200)),
        .init(path: "successStatuses/1", value: .integer(204)), .init(path: "method", value: .text("POST")),
        .init(path: "field", value: .text("file")),
      ])
    #expect(settings.templated == [.init(path: "url", text: "https://h/{{ file.name }}")])
    #expect(
      settings.secrets == [.init(path: "headers/Auth", name: "auth"), .init(path: "basic/password", name: "pw")])
    #expect(
      String(decoding: settings.json, as: UTF8.self)
        == #"{"url":"https://h/{{ file.name }}","headers":{"X/Y":"1","Auth":{"secret":"auth"}},"retries":2.0,"#
        + #""basic":{"username":"u","password":{"secret":"pw"}},"ratio":0.5,"successStatuses":[200,204],"#
        + #""method":"POST","field":"file"}"#)
  }

  @Test(arguments: [
    (#"{"url": "u", "bearer": "plain"}"#, ["secret.plain-text"]),
    (#"{"url": "u", "bearer": 7}"#, ["config.wrong-type"]),
    (#"{"url": "u", "bearer": {"secret": "A b"}}"#, ["secret.bad-name"]),
    (#"{"url": "u", "bearer": {"secret": "a", "x": 1}}"#, ["config.wrong-type"]),
    (#"{"url": {"secret": "whole"}}"#, []), (#"{"url": "u", "field": {"secret": "a"}}"#, ["secret.not-allowed"]),
    (#"{"url": "u", "field": "{{ file.name }}"}"#, ["config.template-ignored"]),
    (#"{"url": "u", "methd": "PUT"}"#, ["config.unknown-key"]),
    (#"{"url": "u", "method": "PSOT"}"#, ["config.bad-value"]),
    (#"{}"#, ["config.missing-key"]), (#"3"#, ["config.wrong-type"]), (#"{"url": ""}"#, ["config.out-of-range"]),
    (#"{"url": "u", "retries": 12}"#, ["config.out-of-range"]),
    (#"{"url": "u", "retries": "2"}"#, ["config.wrong-type"]),
    (#"{"url": "u", "successStatuses": [200, 99, "x"]}"#, ["config.out-of-range", "config.wrong-type"]),
    (#"{"url": "u", "url": "v"}"#, ["config.duplicate-key"]),
    (#"{"url": "u", "tls": {"cert": "x"}}"#, ["config.unknown-key"]),
    (#"{"url": "u", "basic": {"username": "u"}}"#, ["config.missing-key"]),
    (#"{"url": "u", "standardWebhooks": {"secret": {"secret": "a"}}}"#, []),
    (#"{"url": "u", "standardWebhooks": {"secret": "a"}}"#, ["secret.plain-text"]),
  ])
  func `they are checked against the manifest`(settings: String, codes: [String]) {
    #expect(problems(settings).map(\.code.rawValue) == codes)
  }

  @Test func `a plain secret is told how to do it and is not shown`() throws {
    let problem = try #require(problems(#"{"url": "u", "basic": {"username": "u", "password": "hunter2"}}"#).first)
    #expect(problem.hint?.contains("relay-host secret set a-password") == true)
    #expect(!problem.text.contains("hunter2"))
  }

  @Test func `a near word is offered`() throws {
    #expect(problems(#"{"url": "u", "methd": "PUT"}"#).first?.hint == #"did you mean "method"?"#)
    #expect(problems(#"{"url": "u", "method": "PSOT"}"#).first?.hint == #"did you mean "POST"?"#)
  }

  @Test func `missing settings point at load`() throws {
    let text = Samples.file(load: #"{"target": "http"}"#)
    let problems = Samples.read(text).problems
    #expect(problems.map(\.code) == [.configMissingKey])
    #expect(problems.first?.hint == #"add "url": "…"; its title is "Address""#)
    #expect(try problems.first?.place?.column == #require(text.split(separator: #"{"target"#).first).count + 1)
  }

  @Test func `what to add for a missing setting is a value of its kind`() {
    #expect(problems(#"{"url": "u", "standardWebhooks": {}}"#).first?.hint == #"add "secret": {"secret": "name"}"#)
    #expect(problems(#"{"url": "u", "basic": {"password": {"secret": "p"}}}"#).first?.hint == #"add "username": "…""#)
  }

  @Test func `a fault in a template is told in its setting`() throws {
    let environment = ConfigurationEnvironment(currentDirectory: "/srv/relay") { path, text in
      path == "url" && text.contains("bad") ? .init(line: 1, column: 4, message: "no") : nil
    }
    let found = problems(#"{"url": "{{ bad }}"}"#, environment: environment)
    #expect(found.map(\.code) == [.templateSyntax])
    #expect(found.first?.message == #"template in "url", line 1, column 4: no"#)
    #expect(problems(#"{"url": "{{ good }}"}"#, environment: environment).isEmpty)
    let health = Samples.file(
      extract: #"{"from": "health"}"#, load: #"{"target": "http", "settings": {"url": "{{ bad }}"}}"#)
    #expect(Samples.read(health, environment: environment).problems.map(\.code) == [.configHealthNotRun])
  }

  @Test func `a typed path opens, a default does not`() throws {
    let settings = try resolve(#"{"directory": "out/./x"}"#, target: "folder")
    #expect(settings.access == [AccessPath(path: "/srv/relay/out/x", resolved: "/srv/relay/out/x", mode: .write)])
    #expect(settings.entries.contains(.init(path: "directory", value: .text("/srv/relay/out/x"))))
    #expect(settings.entries.contains(.init(path: "cache", value: .text("/srv/default"))))
    #expect(settings.templated == [.init(path: "file", text: "{{ file.name }}")])
    #expect(try resolve(#"{"url": "u", "tls": {"ca": "/ca.pem"}}"#).access.map(\.mode) == [.read])
  }

  @Test func `a file that is replaced opens the folder that it lies in`() throws {
    let settings = try resolve(#"{"directory": "out", "feed": "feeds/all.ics"}"#, target: "folder")
    let feed = try #require(settings.access.last)
    #expect(feed.mode == .replace && feed.path == "/srv/relay/feeds/all.ics" && feed.opened == "/srv/relay/feeds")
    #expect(settings.entries.contains(.init(path: "feed", value: .text("/srv/relay/feeds/all.ics"))))
    // Beside the configuration file its folder would open that, too.
    let found = problems(#"{"directory": "out", "feed": "all.ics"}"#, target: "folder")
    #expect(found.map(\.code) == [.configProtectedPath])
    #expect(found.first?.hint == "put the file into a folder of its own")
  }

  @Test(arguments: [
    ("feeds/{{ file.name }}", "/srv/relay/feeds"), ("/srv/feeds/a-{{ file.name }}/{{ file.name }}.ics", "/srv/feeds"),
    ("/srv/feeds/all.ics", "/srv/feeds"),
  ])
  func `a path with a template opens the folder before its first expression`(text: String, folder: String) throws {
    let settings = try resolve(#"{"directory": "out", "named": "\#(text)"}"#, target: "folder")
    let named = try #require(settings.access.last)
    #expect(named.opened == folder)
    if text.contains("{{") {
      let whole = text.hasPrefix("/") ? text : "/srv/relay/" + text
      #expect(settings.templated.contains(.init(path: "named", text: whole)))
    }
    for bad in ["{{ file.name }}", "/{{ file.name }}", "relay-data/{{ file.name }}"] {
      let found = problems(#"{"directory": "out", "named": "\#(bad)"}"#, target: "folder")
      #expect(found.map(\.code) == [.configProtectedPath], "\(bad)")
    }
  }

  @Test(arguments: [
    ("example.org", false), ("http//x/", false), ("ftp://example.org/", false), ("https://", false),
    ("https://:80/", false),
    ("ftp://example.org/{{ file.name }}", false), ("example.org/{{ file.name }}", false), ("HTTP://x", true),
    ("https://example.org/{{ file.name }}", true), ("https://{{ file.name }}/x", true), ("{{ file.name }}", true),
    ("http{{ file.name }}", true), ("https://[::1]:8480/?a", true),
  ])
  func `an address is looked at before anything is sent to it`(url: String, isGood: Bool) {
    let text = Samples.file(load: #"{"target": "http", "settings": {"url": "u", "callback": "\#(url)"}}"#)
    #expect(Samples.codes(text) == (isGood ? [] : ["config.bad-url"]))
  }

  @Test(arguments: [
    "state", "state/x", "state/secrets", "targets", "targets/x", ".", "..", "/", "pipelines.json", "link",
    "link/deeper", "out/../state", "cred/x",
  ])
  func `what holds the state, the file or credentials can't be opened`(path: String) throws {
    let folder = try TemporaryFolder()
    for name in ["state", "out", "cred"] { try Directory(folder.path).makeFolder(name) }
    try folder.write("pipelines.json", "")
    #expect(symlinked("state", at: "\(folder.path)/link"))
    let environment = ConfigurationEnvironment(
      currentDirectory: folder.path, credentialsDirectory: "\(folder.path)/cred")
    let root = #""state": "state", "targets": ["targets"],"#
    let text = Samples.file(
      load: #"{"target": "folder", "settings": {"directory": "\#(path)"}}"#, root: root)
    #expect(Samples.read(text, environment: environment).problems.map(\.code) == [.configProtectedPath])
    let inbox = Samples.file(
      extract: #"{"from": "inbox", "directory": "\#(path)"}"#,
      load: #"{"target": "folder", "settings": {"directory": "out"}}"#, root: root)
    #expect(Samples.read(inbox, environment: environment).problems.first?.code == .configProtectedPath)
    let beside = text.replacing(#""directory": "\#(path)""#, with: #""directory": "out""#)
    #expect(Samples.read(beside, environment: environment).problems.isEmpty)
  }
}
