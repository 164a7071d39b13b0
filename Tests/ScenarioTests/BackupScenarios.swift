// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `A backup and its way back` {
  /// Whatever was accepted arrives, and however often, under one key.
  private func check(_ requests: [Receiver.Request], holds accepted: [String]) {
    var keys: [String: Set<String>] = [:]
    for request in requests { keys[request.body, default: []].insert(request.key) }
    for body in accepted { #expect(keys[body] != nil, "lost: \(body)") }
    for (body, found) in keys where !body.isEmpty {
      #expect(found.count == 1, "\(body) came under \(found.count) keys")
    }
  }

  /// Takes the state folder away, as a dead disk would.
  private func lose(_ host: Installation) throws {
    host.killHard()
    try #require(rename(host.state, host.path + "/lost-\(Identifier.random())") == 0)
  }

  @Test func `taken while files come and go, brings back everything that was accepted before it began`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/wait/5/200")
    let web = receiver.pipeline("web", "/script/web")
    try host.configure(
      web, receiver.pipeline("held", "/status/200/held"), receiver.pipeline("left", "/status/200/left"))
    try host.start()
    for id in ["held", "left"] { #expect(try host.run("pause", id).status == 0) }
    // Many parts, of which some are empty, and names that nobody would choose.
    try host.submit("held", (1...300).map { $0 % 7 == 0 ? "" : "held \($0)" }, name: "päge \"1\" \t.txt")
    try host.submit("left", "left behind")
    // That pipeline leaves the configuration; what waits in it stays.
    try host.configure(web, receiver.pipeline("held", "/status/200/held"))
    #expect(try host.run("reload").status == 0)
    var accepted: [String] = []
    var before: [String] = []
    for round in 1...4 {
      for number in 1...6 {
        accepted.append("web \(round) \(number)")
        try host.submit("web", accepted[accepted.count - 1])
      }
      before = accepted
      let backup = try host.begin(["backup", "\(host.path)/backup-\(round)", "--json"])
      for number in 7...12 {
        accepted.append("web \(round) \(number)")
        try host.submit("web", accepted[accepted.count - 1])
      }
      let answer = backup()
      try #require(answer.status == 0, "\(answer.output) \(answer.problems)")
      #expect(answer.json?["daemon"]?.bool == true)
      #expect(answer.json?["pipelines"]?.array?.map { $0["id"]?.string } == ["held", "left", "web"])
      #expect(try host.run("backup", "--verify", "\(host.path)/backup-\(round)").status == 0)
    }
    #expect(try host.reaches("web", "idle"))
    // All of it was delivered before the disk died; of the backup, it comes again.
    try lose(host)
    let restored = try host.run("restore", host.path + "/backup-4")
    try #require(restored.status == 0, "\(restored.problems)")
    #expect(restored.output.contains("with the same identities"))
    #expect(restored.output.contains("Pipeline left isn't in the configuration"))
    try host.start()
    // Its folder is read while the first commands are answered already.
    #expect(try host.reaches("held", "paused"))
    #expect(try host.run("resume", "held").status == 0)
    #expect(try host.reaches("held", "idle", within: 60) && host.reaches("web", "idle"))
    let requests = try receiver.requests()
    check(requests.filter { !$0.path.contains("held") }, holds: before)
    let held = requests.filter { $0.path.contains("held") }
    #expect(held.count == 300 && Set(held.map(\.key)).count == 300)
    #expect(held.count { $0.body.isEmpty } == 300 / 7)
    // And the pipeline that had left comes back with what waits in it.
    try host.configure(web, receiver.pipeline("left", "/status/200/left"))
    #expect(try host.run("reload").status == 0)
    #expect(try host.run("resume", "left").status == 0)
    #expect(try eventually { try receiver.requests("/status/200/left").map(\.body) == ["left behind"] })
  }

  @Test func `what was delivered before it is not sent again, and what comes after goes on`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try receiver.script("web", "/status/200", "/status/503?retry-after=3600")
    try host.configure(receiver.pipeline("web", "/script/web"))
    try host.start()
    let artifact = try host.submit("web", "first", "second")
    #expect(try host.reaches("web", "waiting"))
    #expect(try host.run("backup", host.path + "/backup").status == 0)
    try receiver.script("web", "/status/200")
    try lose(host)
    #expect(try host.run("restore", host.path + "/backup").status == 0)
    try host.start()
    #expect(try host.run("queue", "web", "--json").json?["artifacts"]?[0]?["delivered"]?.integer == 1)
    #expect(try host.run("retry", "web").status == 0)
    #expect(try host.reaches("web", "idle"))
    let requests = try receiver.requests()
    #expect(requests.map(\.body) == ["first", "second", "second"])
    #expect(requests[1].key == requests[2].key && requests[1].sha256 == requests[2].sha256)
    #expect(try host.deliveries("web").allSatisfy { $0["artifact"]?.string == artifact })
    try host.submit("web", "third")
    #expect(try eventually { try receiver.requests().last?.body == "third" })
  }

  @Test func `takes in what waits in the inbox and no secret, and tells which ones are missing`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      receiver.pipeline("web", "/status/200", settings: "\"bearer\": {\"secret\": \"web-token\"}"))
    #expect(try host.run(["secret", "set", "web-token"], input: "s3cret-of-the-web").status == 0)
    try host.start()
    #expect(try host.run("pause", "web").status == 0)
    host.killHard()
    try host.shell("cd relay-data/pipelines/web/inbox; printf 'waits in the inbox' > letter.txt; echo half > half.part")
    let answer = try host.run("backup", host.path + "/backup", "--json")
    #expect(answer.status == 0 && answer.json?["daemon"]?.bool == false, "\(answer)")
    #expect(answer.json?["pipelines"]?[0]?["inbox"]?.integer == 1)
    #expect(try host.shell("grep -r s3cret-of-the-web backup").status == 1)
    try lose(host)
    let restored = try host.run("restore", host.path + "/backup")
    #expect(restored.output.contains("relay-host secret set web-token"), "\(restored)")
    #expect(try host.run(["secret", "set", "web-token"], input: "s3cret-of-the-web").status == 0)
    try host.start()
    #expect(try host.run("resume", "web").status == 0)
    #expect(try eventually { try receiver.requests().map(\.body) == ["waits in the inbox"] })
    #expect(try receiver.requests()[0]["Authorization"] == "Bearer s3cret-of-the-web")
    // With the secrets nothing is missing.
    #expect(try host.run("backup", host.path + "/all", "--with-secrets").status == 0)
    #expect(try host.shell("stat -c %a all/secrets/web-token").output == "600\n")
    try lose(host)
    let whole = try host.run("restore", host.path + "/all", "--json")
    #expect(whole.json?["missingSecrets"]?.array?.isEmpty == true, "\(whole)")
  }

  @Test func `cut short by kill -9 of the daemon is none, hurts nothing, and is cleared by the next`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    #expect(try host.run("pause", "files").status == 0)
    try host.submit("files", String(repeating: "0123456789abcdef", count: 1 << 20))
    try host.submit("files", (1...300).map { "\($0)" })
    let before = try host.shell("find relay-data/pipelines -type f -exec sha256sum {} + | sort").output
    var cut = 0
    for _ in 1...8 {
      let answer = try host.begin(["backup", host.path + "/backup"])
      #expect(eventually { host.names(in: "backup").contains("files.ndjson") })
      host.killHard()
      let end = answer()
      if end.status == 0 {
        try host.shell("rm -r backup")
      } else {
        cut += 1
        #expect(end.status == 5 && end.problems.contains("ended before the backup was whole"), "\(end)")
        if !host.names(in: "backup").contains("backup.json") {
          let verified = try host.run("backup", "--verify", host.path + "/backup")
          #expect(verified.status == 4 && verified.problems.contains("backup.none"), "\(verified)")
          let restored = try host.run("restore", host.path + "/backup", "--state", host.path + "/elsewhere")
          #expect(restored.status == 4 && restored.problems.contains("backup.none"), "\(restored)")
        } else {
          try host.shell("rm -r backup")
        }
      }
      #expect(!host.names(in: ".").contains("elsewhere"))
      try host.start()
      #expect(try host.shell("find relay-data/pipelines -type f -exec sha256sum {} + | sort").output == before)
    }
    #expect(cut > 0)
    let last = try host.run("backup", host.path + "/backup")
    #expect(last.status == 0, "\(last.problems)")
    #expect(try host.run("backup", "--verify", host.path + "/backup").status == 0)
  }

  @Test func `put back under kill -9 is nothing that a daemon starts with, until it is whole`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    #expect(try host.run("pause", "files").status == 0)
    try host.submit("files", String(repeating: "0123456789abcdef", count: 1 << 18))
    try host.submit("files", (1...300).map { "\($0)" })
    #expect(try host.run("backup", host.path + "/backup").status == 0)
    let before = try host.shell("cd relay-data/pipelines && find . -type f -exec sha256sum {} + | sort").output
    try lose(host)
    var refused = 0
    for round in 0..<30 {
      // From the first milliseconds on to the last; the whole takes less than a second.
      let time = "0.\(String(1000 + round * 22).dropFirst())"
      _ = try host.shell("timeout --foreground -s KILL \(time) $relay restore backup --config $config")
      if host.names(in: "relay-data").contains("format") {
        let after = try host.shell("cd relay-data/pipelines && find . -type f -exec sha256sum {} + | sort").output
        #expect(after == before)
        try host.shell("rm -r relay-data")
      } else if host.names(in: "relay-data").contains("restoring") {
        refused += 1
        let start = try host.shell("relay")
        #expect(start.status == 4 && start.problems.contains("run `relay-host restore`"), "\(start)")
        let looked = try host.run("status")
        #expect(looked.status == 4 && looked.problems.contains("state.unfinished-restore"), "\(looked)")
        // Every other time it is begun again, else it is cut once more where it stands.
        if round % 2 == 0 {
          let again = try host.run("restore", host.path + "/backup")
          #expect(again.status == 0, "\(again)")
          #expect(
            try host.shell("cd relay-data/pipelines && find . -type f -exec sha256sum {} + | sort").output == before)
          try host.shell("rm -r relay-data")
        }
      }
    }
    // How many kills hit the middle depends on the machine; the sweep of `restore` tries every call.
    #expect(refused > 0)
    try host.shell("rm -rf relay-data")
    #expect(try host.run("restore", host.path + "/backup").status == 0)
    try host.start()
    #expect(try host.run("resume", "files").status == 0)
    #expect(try host.reaches("files", "idle", within: 60))
  }
}
