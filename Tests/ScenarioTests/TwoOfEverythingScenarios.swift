// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Synchronization
import Testing

/// Several do the same, or the opposite, at the same time.
@Suite struct `Two of everything` {
  /// Runs bodies side by side, each on a thread of its own.
  private func together(_ bodies: [@Sendable () throws -> Void]) throws {
    let problems = Mutex<[String]>([])
    let left = Mutex(bodies.count)
    for (number, body) in bodies.enumerated() {
      try startThread("side-\(number)") {
        do { try body() } catch { problems.withLock { $0.append("\(error)") } }
        left.withLock { $0 -= 1 }
      }
    }
    #expect(eventually(within: 120) { left.withLock { $0 } == 0 })
    #expect(problems.withLock { $0 } == [])
  }

  @Test func `daemons that start at the same moment: one runs, the others say who does`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    let answers = Mutex<[Installation.Answer]>([])
    // Nobody ends by himself but the losers; the winner is ended through its own socket's process number.
    let starts = (0..<4).map { _ in
      { @Sendable () throws -> Void in
        let answer = try host.run("--log-level", "notice")
        answers.withLock { $0.append(answer) }
      }
    }
    let ender = { @Sendable () throws -> Void in
      _ = eventually(within: 30) { answers.withLock { $0.count } == 3 }
      let pid = pid_t(host.text(of: "relay-data/lock").prefix { $0 != "\n" }) ?? 0
      if pid > 0 { kill(pid, SIGTERM) }
    }
    try together(starts + [ender])
    let all = answers.withLock { $0 }
    #expect(all.count(where: { $0.status == 0 }) == 1)
    for loser in all where loser.status != 0 {
      #expect(loser.problems.contains("in use by process"), "\(loser.problems)")
    }
  }

  @Test func `reloads, removals, pauses and submits at once lose nothing of a pipeline that stays`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    let stays = receiver.pipeline("stays", "/status/200/stays")
    let comes = receiver.pipeline("comes", "/status/200/comes")
    try host.configure(stays, comes)
    try host.start()
    try host.write("other.txt", "x")
    let accepted = Mutex(0)
    let submitter = { @Sendable () throws -> Void in
      for _ in 0..<15 {
        try host.submit("stays", "from \(accepted.withLock { $0 })", name: "file-\(Identifier.random()).txt")
        accepted.withLock { $0 += 1 }
      }
    }
    try host.write("other.txt", "x")
    // While it is there or not, in the middle of a removal or of a delivery: each command ends with an answer.
    let other = { @Sendable () throws -> Void in
      for _ in 0..<15 { _ = try host.run("submit", "comes", host.path + "/other.txt") }
    }
    let remover = { @Sendable () throws -> Void in
      for _ in 0..<6 {
        try host.configure(stays)
        _ = try host.run("reload")
        _ = try host.run("remove", "comes", "--yes")
        try host.configure(stays, comes)
        _ = try host.run("reload")
      }
    }
    let pauser = { @Sendable () throws -> Void in
      for _ in 0..<10 {
        #expect(try host.run("pause", "stays").status == 0)
        #expect(try host.run("resume", "stays").status == 0)
      }
    }
    let reloader = { @Sendable () throws -> Void in for _ in 0..<15 { _ = try host.run("reload") } }
    try together([submitter, submitter, other, other, remover, pauser, reloader])
    #expect(try host.run("reload").status == 0)
    #expect(try host.reaches("stays", "idle", within: 40))
    let requests = try receiver.requests("/status/200/stays")
    #expect(requests.count == 30 && accepted.withLock { $0 } == 30)
    #expect(Set(requests.map(\.key)).count == 30)
    // And the one that came and went works like any other.
    try host.submit("comes", "last")
    #expect(try host.reaches("comes", "idle"))
    #expect(try receiver.requests("/status/200/comes").last?.body == "last")
    let connections = Dictionary(grouping: requests, by: \.connection)
    #expect(!connections.isEmpty)
  }

  @Test func `refusals and people who delete what was refused never lose one from view`() throws {
    let host = try Installation()
    let receiver = try Receiver()
    // Every second one, since five in a row would stop the pipeline.
    let answers = (0..<20).flatMap { _ in ["/status/400", "/status/200"] }
    try receiver.script("web", answers)
    try host.configure(receiver.pipeline("web", "/script/web"))
    try host.start()
    let submitted = Mutex<Set<String>>([])
    let deleted = Mutex<[String]>([])
    let submitter = { @Sendable () throws -> Void in
      for _ in 0..<40 {
        let artifact = try host.submit("web", "x")
        submitted.withLock { _ = $0.insert(artifact) }
      }
    }
    let deleter = { @Sendable () throws -> Void in
      for _ in 0..<30 {
        for artifact in try host.artifacts("refused", "web").prefix(2) {
          let answer = try host.run("refused", "delete", "web", artifact)
          if answer.status == 0 { deleted.withLock { $0.append(artifact) } }
          // The other one was faster.
          #expect([0, 2].contains(answer.status), "\(answer)")
        }
      }
    }
    try together([submitter, deleter, deleter])
    #expect(try host.reaches("web", "idle"))
    let (all, gone) = (submitted.withLock { $0 }, deleted.withLock { $0 })
    let left = Set(try host.artifacts("refused", "web"))
    #expect(all.count == 40 && left.count + gone.count == 20)
    #expect(left.union(gone).isSubset(of: all) && left.isDisjoint(with: gone))
  }
}
