// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

/// Files of every kind, by every way, with and without a daemon.
@Suite struct `What is handed over` {
  static func installation(_ pipelines: String...) throws -> Installation {
    let host = try Installation()
    let all = (pipelines.isEmpty ? [Installation.filing("files")] : pipelines).joined(separator: ",\n")
    try host.write("pipelines.json", "{\"targets\": [\"targets\"], \"pipelines\": [\(all)]}\n")
    return host
  }

  @Test(arguments: [true, false]) func `any name arrives, made fit for the receiver where it isn't`(
    _ isRunning: Bool
  ) throws {
    let host = try Self.installation()
    if isRunning { try host.start() }
    // Bash makes names that no Swift string can hold.
    let script = """
      mkdir -p in/deep && cd in || exit 1
      long=$(printf 'l%.0s' {1..251}).txt
      echo -n path > deep/path.txt; echo -n line > $'two\\nlines.txt'; echo -n long > "$long"
      echo -n raw > $'raw\\xff\\xfe.txt'; echo -n umlaut > 'grüße 日本.txt'; : > empty.txt; echo -n dash > ./-n.txt
      relay submit files deep/path.txt $'two\\nlines.txt' "$long" $'raw\\xff\\xfe.txt' 'grüße 日本.txt' empty.txt ./-n.txt
      """
    let answer = try host.shell(script)
    #expect(answer.status == 0, "\(answer)")
    if !isRunning {
      #expect(answer.output.contains("No daemon runs"))
      try host.start()
    }
    let expected = [
      "path.txt": "path", "two_lines.txt": "line", String(repeating: "l", count: 251) + ".txt": "long",
      "raw\u{FFFD}\u{FFFD}.txt": "raw", "grüße 日本.txt": "umlaut", "empty.txt": "", "-n.txt": "dash",
    ]
    for (name, content) in expected {
      let arrived = eventually { host.names(in: "out").contains(name) && host.text(of: "out/" + name) == content }
      #expect(arrived, "\(name); there are \(host.names(in: "out"))")
    }
    #expect(eventually { host.queue("files").isEmpty })
  }

  @Test(arguments: [true, false]) func `pipes are read to their end, wherever they come from`(_ isRunning: Bool) throws
  {
    let host = try Self.installation()
    if isRunning { try host.start() }
    let script = """
      set -e
      echo -n one | relay submit files -
      echo -n two | relay submit files /dev/stdin
      mkfifo late; (sleep 0.5; echo -n three > late) & relay submit files late
      mkfifo early; (echo -n four > early) & sleep 0.3; relay submit files early
      relay submit files <(echo -n five; sleep 0.3; echo -n more)
      relay submit files - < pipelines.json
      """
    let answer = try host.shell(script)
    #expect(answer.status == 0, "\(answer)")
    if !isRunning { try host.start() }
    #expect(eventually { host.queue("files").isEmpty && host.names(in: "out").count >= 4 })
    #expect(eventually { host.text(of: "out/late") == "three" })
    #expect(host.text(of: "out/early") == "four")
    #expect(host.names(in: "out").contains { host.text(of: "out/" + $0) == "fivemore" })
    // The last one named so is what is left there.
    #expect(host.text(of: "out/stdin") == host.text(of: "pipelines.json"))
  }

  @Test(arguments: [true, false]) func `what can't be read is refused whole, with its name`(_ isRunning: Bool) throws {
    let host = try Self.installation(
      Installation.filing("files"), Installation.filing("small", delivery: "\"maxQueued\": {\"bytes\": \"64KB\"}"),
      Installation.filing("few", delivery: "\"maxQueued\": {\"artifacts\": 2}"))
    try host.write("good.txt", "x")
    if isRunning { try host.start() }
    for id in ["files", "small", "few"] { #expect(try host.run("pause", id).status == 0) }
    func refused(_ words: String, _ status: Int32, _ said: String) throws {
      let answer = try host.shell(words)
      #expect(answer.status == status, "\(words): \(answer)")
      #expect(answer.problems.contains(said), "\(words): \(answer.problems)")
    }
    try refused("relay submit files good.txt none.txt", 2, "none.txt can't be read: No such file")
    try refused("relay submit files good.txt out", 2, "out is a folder")
    try refused("relay submit fils good.txt", 2, "did you mean \"files\"?")
    try refused("relay submit files", 2, "FILE is missing")
    try refused("touch $(seq -f n%g 10001); relay submit files $(seq -f n%g 10001)", 2, "10000")
    try refused("head -c 100000 /dev/zero > large; relay submit small large", 4, "small")
    try refused("relay submit few good.txt && relay submit few good.txt && relay submit few good.txt", 4, "few")
    try refused(
      "(while [ ! -e enough ]; do echo more >> growing; done) & relay submit files $(yes growing | head -300); s=$?; "
        + "touch enough; wait; exit $s", 4, "growing")
    #expect(host.names(in: "relay-data/pipelines/files/queue").isEmpty)
    #expect(host.names(in: "relay-data/pipelines/small/queue").isEmpty)
    #expect(host.queue("few").count == 2)
  }

  @Test func `ten thousand parts are one artifact and arrive in order`() throws {
    let host = try Self.installation(Installation.filing("files", settings: "\"append\": true, \"file\": \"all.txt\""))
    try host.start()
    let answer = try host.shell(
      "mkdir many; cd many; for n in $(seq -f %05g 10000); do echo $n > $n; done; relay submit files * --json")
    #expect(answer.status == 0, "\(answer.problems)")
    #expect(answer.json?["parts"]?.integer == 10_000)
    #expect(eventually { !host.deliveriesOnDisk("files").isEmpty })
    #expect(try host.run("pause", "files").status == 0)
    let lines = host.text(of: "out/all.txt").split(separator: "\n")
    #expect(lines.first == "00001")
    #expect(lines.enumerated().allSatisfy { Int($1) == $0 + 1 })
    #expect(try host.run("queue", "files", "--json").json?["artifacts"]?[0]?["parts"]?.integer == 10_000)
  }

  @Test(arguments: [false, true])
  func `two who hand over at the same time lose nothing while the daemon comes and goes`(
    _ isKilled: Bool
  ) throws {
    let host = try Self.installation(Installation.filing("files", settings: "\"append\": true, \"file\": \"all.txt\""))
    let script = """
      for who in a b; do
        for n in $(seq 15); do echo "$who$n" > $who$n; relay submit files $who$n 2>>problems || echo "$who$n" >> failed; done &
      done
      wait; touch done
      """
    try host.write("script", script)
    try host.shell("(\n\(script)\n) > /dev/null 2>&1 &")
    // It starts and stops, gently or not, while they go on.
    while !host.names(in: ".").contains("done") {
      try host.start()
      if isKilled { host.killHard() } else { host.stop() }
    }
    try host.start()
    let wanted = Set(["a", "b"].flatMap { who in (1...15).map { "\(who)\($0)" } })
    let failed = Set(host.text(of: "failed").split(separator: "\n").map(String.init))
    // Only a daemon that was killed leaves somebody without an answer.
    #expect(isKilled ? failed.count < wanted.count : failed.isEmpty, "\(host.text(of: "problems"))")
    func arrived() -> [String] { host.text(of: "out/all.txt").split(separator: "\n").map(String.init) }
    #expect(
      eventually(within: 30) { wanted.subtracting(failed).isSubset(of: arrived()) },
      "\(host.text(of: "problems")) \((try? host.run("status", "--json").output) ?? "") \(host.log.suffix(4000))")
    // In its order, each from one hand.
    for who in ["a", "b"] {
      let numbers = arrived().filter { $0.hasPrefix(who) && !failed.contains($0) }.compactMap { Int($0.dropFirst()) }
      #expect(numbers == numbers.sorted(), "\(numbers)")
    }
    #expect(arrived().allSatisfy(wanted.contains))
  }

  @Test func `the limit in bytes holds without a daemon, too`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files", delivery: #""maxQueued": {"bytes": "1MB"}"#))
    try host.write("file", String(repeating: "x", count: 400_000))
    #expect(try host.run("submit", "files", host.path + "/file").status == 0)
    #expect(try host.run("submit", "files", host.path + "/file").status == 0)
    let full = try host.run("submit", "files", host.path + "/file")
    #expect(full.status == 4 && full.problems.contains("submit.queue-full"), "\(full)")
  }

  @Test func `a command that is killed in the middle leaves nothing behind`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    try host.start()
    // Endless, and silent.
    let answer = try host.shell(
      """
      mkfifo silent; exec 3<>silent
      "$relay" submit files /dev/zero --config "$config" & first=$!
      "$relay" submit files - --config "$config" <&3 & second=$!
      for turn in $(seq 500); do
        [ "$(ls -A relay-data/pipelines/files/queue | wc -l)" = 2 ] && break; sleep 0.02
      done
      kill -9 $first $second
      """)
    #expect(answer.status == 0, "\(answer)")
    #expect(eventually(within: 10) { host.names(in: "relay-data/pipelines/files/queue").isEmpty })
    try host.submit("files", "hello", name: "letter.txt")
    #expect(eventually { host.text(of: "out/letter.txt") == "hello" })
  }

  @Test func `an inbox whose queue was full goes on as soon as there is room`() throws {
    let host = try Installation()
    try host.configure(
      Installation.filing("files", delivery: #""spacing": "100ms", "maxQueued": {"artifacts": 2}"#),
      #"{"id": "health", "extract": {"from": "health"}, "load": {"target": "folder", "settings": {"directory": "out"}}}"#
    )
    try host.start()
    try host.shell("for n in $(seq 8); do echo $n > relay-data/pipelines/files/inbox/$n.txt; done")
    // Without a hint, two would be taken every half a minute.
    #expect(eventually(within: 25) { host.names(in: "out").count == 8 }, "\(host.names(in: "out"))")
    #expect(try eventually { try host.status("files")["trouble"] == nil })
    #expect(try host.run("status").output.contains("health is not run: it reads health data"))
  }
}
