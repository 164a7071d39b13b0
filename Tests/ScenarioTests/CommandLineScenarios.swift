// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `The command line` {
  /// The commands that the overview lists, some of two words.
  static func commands(_ overview: String) -> [[String]] {
    let lines = overview.split(separator: "\n", omittingEmptySubsequences: false)
    let listed = lines.drop { $0 != "Commands:" }.dropFirst().prefix { !$0.isEmpty }
    return listed.map { line in
      var words: [String] = []
      // The name ends where two spaces stand.
      for word in line.dropFirst(2).split(separator: " ", omittingEmptySubsequences: false) {
        if word.isEmpty { break }
        words.append(String(word))
      }
      return words
    }
  }

  @Test func `every command explains itself with an example, in the words of the golden file`() throws {
    let host = try Installation()
    let overview = try host.run("--help")
    #expect(overview.status == 0)
    let commands = Self.commands(overview.output)
    #expect(commands.count > 15)
    var all = overview.output
    for command in commands {
      let help = try host.run(command + ["--help"])
      #expect(help.status == 0 && help.problems.isEmpty, "\(command)")
      #expect(help.output.contains("Example:\n  "), "\(command)")
      #expect(help.output.contains("relay-host \(command.joined(separator: " "))"), "\(command)")
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(command)")
      all += "\n=== relay-host \(command.joined(separator: " ")) --help\n\n" + help.output
    }
    let path = Repository.path("Tests/ScenarioTests/Golden/help.txt")
    if getenv("RELAY_UPDATE_GOLDEN") != nil { try File.write(all.utf8, to: path) }
    let golden = String(decoding: try File.bytes(of: path), as: UTF8.self)
    #expect(all == golden, "help.txt is stale; scripts/update-docs renews it")
  }

  @Test func `a slip is answered by what was meant, on standard error, with 2`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    let slips: [([String], String)] = [
      (["statsu"], "did you mean \"status\"?"), (["submti", "files", "x"], "did you mean \"submit\"?"),
      (["status", "--jsno"], "did you mean \"--json\"?"), (["status", "flies"], "did you mean \"files\"?"),
      (["queue"], "PIPELINE is missing"), (["queue", "drop", "files"], "ARTIFACT is missing"),
      (["status", "files", "more"], "unexpected \"more\""), (["log", "files", "-n", "0"], "above 0"),
      (["log", "files", "-n"], "needs a value"), (["version", "--json=yes"], "takes no value"),
      (["queue", "drpo", "files", "1"], "unexpected"),
    ]
    for (words, said) in slips {
      let answer = try host.run(words)
      #expect(answer.status == 2, "\(words): \(answer)")
      #expect(answer.problems.contains(said), "\(words): \(answer.problems)")
      #expect(answer.output.isEmpty, "\(words)")
    }
  }

  @Test func `check tells six mistakes at once, each with its place, and ends with 2`() throws {
    let host = try Installation()
    try host.write("pipelines.json", Repository.text(of: "Tests/RelayConfigTests/Golden/six-mistakes.json"))
    let answer = try host.run("check")
    #expect(answer.status == 2)
    // The target is the real one here, so it tells other settings than the sample's.
    let places = ["2:3", "10:11", "11:", "11:", "11:", "14:32"]
    let lines = answer.problems.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(lines.count == 6, "\(answer.problems)")
    for (line, place) in zip(lines, places) {
      #expect(line.contains("pipelines.json:\(place)"), "\(line)")
      #expect(line.hasSuffix("]"), "\(line)")
    }
    #expect(answer.problems.contains("6 mistakes"))
    let json = try host.run("check", "--json")
    #expect(json.status == 2)
    #expect(json.json?["valid"]?.bool == false)
    let problems = json.json?["problems"]?.array ?? []
    #expect(problems.count == 6)
    for problem in problems {
      #expect((problem["line"]?.integer ?? 0) > 0 && (problem["column"]?.integer ?? 0) > 0)
      #expect(problem["code"]?.string?.contains(".") == true && problem["message"]?.string?.isEmpty == false)
    }
    #expect(!answer.problems.contains("hunter2") && !json.output.contains("hunter2"))
    // The daemon doesn't start on it, and says the same.
    let daemon = try host.shell("relay")
    #expect(daemon.status == 2)
    #expect(daemon.problems.contains("config.bad-duration"))
  }

  @Test func `each exit code is seen where the table says`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      Installation.filing("files"), receiver.pipeline("down", "/status/503"), receiver.pipeline("wrong", "/status/401"))
    // 5: it needs a daemon and there is none.
    #expect(try host.run("retry", "files").status == 5)
    #expect(try host.run("reload").status == 5)
    // A test needs none.
    #expect(try host.run("test", "files").status == 0)
    try host.start()
    #expect(try host.run("status").status == 0)
    #expect(try host.run("nothing").status == 2)
    try host.submit("down", "x")
    try host.submit("wrong", "x")
    #expect(try eventually { try host.run("status", "down").status == 3 })
    #expect(try eventually { try host.run("status", "wrong").status == 4 })
    // The worst of all counts.
    #expect(try host.run("status").status == 4)
    #expect(try host.run("retry", "wrong").status == 4)
    #expect(try host.run("test", "down").status == 3)
    #expect(try host.run("test", "wrong").status == 4)
    #expect(try host.run("test", "files").status == 0)
    // 1: a fault of ours. The daemon's folder is taken away under it.
    #expect(try host.shell("rm -r relay-data/pipelines/files; relay submit files pipelines.json").status == 1)
  }

  @Test(arguments: [true, false]) func `what programs read is JSON with the fields that were promised`(
    _ isRunning: Bool
  ) throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(
      Installation.filing("files"), receiver.pipeline("no", "/status/400"), receiver.pipeline("down", "/status/503"))
    try host.start()
    for id in ["files", "no", "down"] { try host.submit(id, "some bytes") }
    #expect(eventually { ["files", "no", "down"].allSatisfy { !host.deliveriesOnDisk($0).isEmpty } })
    #expect(eventually { host.refused("no").count == 1 && host.queue("files").isEmpty })
    if !isRunning { host.stop() }

    let status = try #require(try host.run("status", "--json").json)
    #expect(status["version"]?.string == "0.1.0")
    #expect(status["daemon"]?.bool == isRunning)
    #expect(status["pipelines"]?.array?.count == 3)
    for pipeline in status["pipelines"]?.array ?? [] {
      for name in [
        "id", "name", "state", "queued", "lastSuccess", "lastVerdict", "attempts", "nextAttempt", "stuckSince",
        "attention",
        "nextRun", "owedDays",
      ] { #expect(pipeline[name] != nil, "\(name)") }
      for name in ["artifacts", "parts", "bytes"] { #expect(pipeline["queued"]?[name]?.integer != nil, "\(name)") }
      #expect(pipeline["lastVerdict"]?["code"]?.string != nil)
    }
    let down = try host.status("down")
    #expect(down["state"]?.string == "waiting")
    #expect(down["queued"]?["artifacts"]?.integer == 1 && down["queued"]?["bytes"]?.integer == 10)
    #expect(down["lastVerdict"]?["status"]?.integer == 503)
    #expect(down["nextAttempt"]?.string?.hasSuffix("Z") == true && down["stuckSince"]?.string?.hasSuffix("Z") == true)
    #expect(try host.status("files")["lastSuccess"]?.string?.hasSuffix("Z") == true)

    let log = try host.run("log", "down", "--json").output.split(separator: "\n")
    let line = try JSONTree.parse(Array((log.last ?? "").utf8))
    for name in [
      "at", "artifact", "part", "deliveryId", "attempt", "verdict", "status", "message", "bytes", "milliseconds",
      "days",
    ] { #expect(line[name] != nil, "\(name)") }

    let queue = try #require(try host.run("queue", "down", "--json").json)
    for name in ["sequence", "artifact", "created", "parts", "bytes", "files"] {
      #expect(queue["artifacts"]?[0]?[name] != nil, "\(name)")
    }
    let refused = try #require(try host.run("refused", "no", "--json").json)
    for name in ["name", "sequence", "artifact", "message", "status", "at", "attempts", "verdict"] {
      #expect(refused["artifacts"]?[0]?[name] != nil, "\(name)")
    }
    let targets = try #require(try host.run("targets", "--json").json)
    for name in ["id", "file", "version", "state", "reason"] {
      #expect(targets["targets"]?[0]?[name] != nil, "\(name)")
    }
    #expect(try host.run("version", "--json").json?["version"]?.string == "0.1.0")
    #expect(try host.run("check", "--json").json?["valid"]?.bool == true)
    #expect(try host.run("secret", "list", "--json").json?["secrets"]?.array?.isEmpty == true)
    #expect(try host.run("schema").json?["properties"]?["pipelines"] != nil)
    let steering = [
      ["pause", "down"], ["resume", "down"], ["submit", "files", host.path + "/pipelines.json"],
      ["refused", "resend", "no", refused["artifacts"]?[0]?["name"]?.string ?? ""],
      ["queue", "drop", "down", queue["artifacts"]?[0]?["artifact"]?.string ?? ""], ["remove", "no", "--yes"],
    ]
    for words in steering {
      let answer = try host.run(words + ["--json"])
      #expect(answer.status == 0, "\(words): \(answer)")
      #expect(answer.json?["pipeline"]?.string == words.first { ["down", "files", "no"].contains($0) }, "\(words)")
    }
    // Errors are JSON too.
    for words in [
      ["status", "none"], ["queue", "none"], ["log", "none"], ["submit", "none", "none"], ["pause", "none"],
    ] {
      let answer = try host.run(words + ["--json"])
      #expect(answer.status == 2, "\(words)")
      #expect(answer.json?["error"]?["code"]?.string != nil, "\(words): \(answer)")
      #expect(answer.json?["error"]?["message"]?.string != nil, "\(words): \(answer)")
    }
  }

  @Test func `no word may be empty, and the configuration must be a file`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    for words in [["backup", ""], ["restore", ""], ["submit", "files", ""], ["status", ""], ["secret", "set", ""]] {
      let answer = try host.run(words)
      #expect(answer.status == 2 && answer.problems.contains(" is empty"), "\(words): \(answer)")
    }
    let answer = try host.shell("mkfifo pipe; \"$relay\" check --config pipe; \"$relay\" check --config /tmp")
    #expect(answer.status == 2 && answer.problems.contains("pipe is no regular file"), "\(answer)")
    #expect(answer.problems.contains("/tmp is no regular file"), "\(answer)")
  }

  @Test func `check tells programs, too, what isn't there yet`() throws {
    let host = try Installation()
    let pipeline = """
      {"id": "web", "extract": {"from": "inbox", "directory": "nowhere"},
       "load": {"target": "http", "settings": {"url": "http://127.0.0.1:1/", "bearer": {"secret": "key"}}}}
      """
    try host.configure(pipeline)
    let answer = try host.run("check", "--json")
    let warnings = answer.json?["warnings"]?.array ?? []
    #expect(answer.status == 0 && warnings.count == 2, "\(answer)")
    #expect(warnings.allSatisfy { $0["pipeline"]?.string == "web" })
    #expect(warnings.contains { $0["message"]?.string?.contains("nowhere is not there") == true })
  }

  @Test func `what can't be printed is said, and a reader that went away is no trouble`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    let full = try host.shell("\"$relay\" check --config \"$config\" >/dev/full")
    #expect(full.status == 1 && full.problems.contains("can't be written: No space left on device"), "\(full)")
    let gone = try host.shell("\"$relay\" check --config \"$config\" | true")
    #expect(gone.status == 0 && gone.problems.isEmpty, "\(gone)")
  }

  @Test func `a umask that takes from its own user doesn't make a state that can't be read`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    let answer = try host.shell(
      """
      umask 0777
      printf x | "$relay" secret set key --config "$config" && "$relay" submit files "$config" --config "$config"
      find relay-data -not -perm -u=rw -not -type l
      """)
    #expect(answer.status == 0 && answer.problems.isEmpty, "\(answer)")
    #expect(!answer.output.contains("relay-data"), "\(answer)")
  }

  @Test func `a command that is ended leaves no temporary folder`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    try host.configure(receiver.pipeline("web", "/wait/60000/200"))
    let answer = try host.shell(
      """
      mkdir tmp; export TMPDIR=$PWD/tmp
      for signal in TERM HUP; do
        "$relay" test web --config "$config" & pid=$!
        for turn in $(seq 500); do [ -n "$(ls tmp)" ] && break; sleep 0.02; done
        ls tmp | wc -l
        kill -$signal $pid; wait $pid; echo $?
        ls tmp | wc -l
      done
      """)
    #expect(answer.output == "1\n143\n0\n1\n129\n0\n", "\(answer)")
  }
}
