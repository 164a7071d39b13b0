// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayOracle
import RelaySystem
import RelayTestSupport
import ScenarioSupport

/// The scenarios, each a thing that must survive being broken anywhere.
extension SweepScenario {
  static let all: [SweepScenario] = [
    firstStart, enqueueAlone, enqueueWithDaemon, enqueueMany, inbox, deliver, mark, worker, workerPacked, encode,
    bundle, refuse, drop, resend, corrupt,
    reload,
    remove, recover, recoverTwice, backup, restore,
  ]

  /// Those that change the state folder and end by themselves: for the power cut.
  static let durable: [SweepScenario] = [
    firstStart, enqueueAlone, enqueueWithDaemon, deliver, mark, encode, bundle, refuse, drop, resend, remove, recover,
  ].map { scenario in
    var scenario = scenario
    scenario.kinds = .durable
    return scenario
  }

  /// How long a run that is neither dead nor done is waited for; what is stuck longer is ended and begun again.
  private static let patience = 1.2

  private static func configure(_ stage: Stage) throws {
    try stage.receiver.script("p0", "/status/201")
    try stage.host.configure(stage.pipeline(0))
  }

  /// A daemon under the shim that delivers what is queued.
  private static func deliverAll(_ stage: Stage, _ arm: () -> Void) throws {
    arm()
    try stage.host.launch(environment: stage.faults.environment)
    _ = stage.waits(patience) { stage.isDrained }
  }

  private static let firstStart = SweepScenario(
    name: "first start", words: "a daemon makes its state folder", isCold: true, prepare: configure
  ) { stage, arm in
    arm()
    try stage.host.launch(environment: stage.faults.environment)
    _ = stage.waits(patience) { stage.host.log.contains("Relay Host is ready") }
  }

  private static let enqueueAlone = SweepScenario(
    name: "enqueue, no daemon", words: "`submit` of two parts takes the lock itself", prepare: configure
  ) { stage, arm in
    arm()
    try stage.submit(0, environment: stage.faults.environment)
  }

  private static let enqueueWithDaemon = SweepScenario(
    name: "enqueue, daemon", words: "a running daemon takes two parts over its socket",
    prepare: { stage in
      try configure(stage)
      try stage.host.run("pause", "p0")
      try stage.host.start(environment: stage.faults.environment)
    },
    act: { stage, arm in
      arm()
      try stage.submit(0)
    }, mend: { try $0.host.run("resume", "p0") })

  private static let enqueueMany = SweepScenario(
    name: "enqueue, 40 parts", words: "more parts than are open at once before a sync",
    effects: [.kill, .fails(ENOSPC)],
    prepare: configure
  ) { stage, arm in
    arm()
    try stage.submit(0, parts: 40, bytes: 10, environment: stage.faults.environment)
  }

  private static let deliver = SweepScenario(
    name: "deliver", words: "a daemon starts, delivers three artifacts and removes them",
    prepare: { stage in
      try configure(stage)
      for parts in 1...3 { try stage.submit(0, parts: parts) }
    }, act: deliverAll)

  private static let mark = SweepScenario(
    name: "mark", words: "the receiver has a part, and the daemon marks it", kinds: .durable,
    prepare: { stage in
      try stage.receiver.script("p0", "/wait/25/201")
      try stage.host.configure(stage.pipeline(0))
      try stage.host.start(environment: stage.faults.environment)
    },
    act: { stage, arm in
      try stage.submit(0)
      _ = try stage.waits(5) { try !stage.receiver.requests().isEmpty }
      arm()
      _ = stage.waits(patience) { stage.isDrained }
    })

  private static let encode = SweepScenario(
    name: "encode", words: "parts are packed once, before they are queued",
    prepare: { stage in
      try stage.receiver.script("p0", "/status/201")
      try stage.host.configure(stage.pipeline(0, delivery: Stage.haste + ", \"encode\": \"gzip\""))
      try stage.submit(0)
    },
    act: { stage, arm in
      arm()
      try stage.submit(0, environment: stage.faults.environment)
      try stage.host.launch(environment: stage.faults.environment)
      _ = stage.waits(patience) { stage.isDrained }
    })

  private static let bundle = SweepScenario(
    name: "bundle", words: "the parts of an artifact are put into one file, before the first attempt",
    prepare: { stage in
      try stage.host.configure(try stage.crated(0))
      try stage.submit(0, parts: 3)
    }, act: deliverAll)

  private static func worker(_ name: String, _ words: String, bytes: Int, delivery: String) -> SweepScenario {
    SweepScenario(
      name: name, words: words, kinds: [.network, .read],
      effects: [.kill, .fails(ECONNRESET), .fails(EIO), .fails(EINTR), .short], strikesWorkers: true,
      prepare: { stage in
        try stage.receiver.script("p0", "/status/201")
        try stage.host.configure(stage.pipeline(0, delivery: delivery))
        for _ in 0..<2 { try stage.submit(0, bytes: bytes) }
      },
      act: { stage, arm in
        arm()
        try stage.host.launch()
        _ = stage.waits(patience) { stage.isDrained }
      })
  }

  private static let worker = worker(
    "worker", "a worker reads two artifacts and sends them", bytes: 300, delivery: Stage.haste)

  private static let workerPacked = worker(
    "worker, large part", "the same with parts of many reads", bytes: 600_000, delivery: Stage.haste)

  private static let refuse = SweepScenario(
    name: "set aside", words: "the receiver refuses the second of three artifacts",
    prepare: { stage in
      try stage.receiver.script("p0", "/status/201", "/status/400", "/status/201")
      try stage.host.configure(stage.pipeline(0))
      for _ in 0..<3 { try stage.submit(0, parts: 1) }
    }, act: deliverAll)

  private static let drop = SweepScenario(
    name: "drop", words: "a person sets the head of the queue aside",
    prepare: { stage in
      try configure(stage)
      for _ in 0..<2 { try stage.submit(0) }
    },
    act: { stage, arm in
      let artifact = try stage.host.artifacts("queue", "p0").first ?? ""
      arm()
      try stage.host.run(["queue", "drop", "p0", artifact], environment: stage.faults.environment)
    })

  private static let resend = SweepScenario(
    name: "resend", words: "a person sends again what was refused",
    prepare: { stage in
      try stage.receiver.script("p0", "/status/400")
      try stage.host.configure(stage.pipeline(0))
      try stage.submit(0)
      try stage.host.start()
      _ = stage.waits(10) { stage.isDrained }
      stage.host.killHard()
      stage.receiver.forget()
      try stage.receiver.script("p0", "/status/201")
    },
    act: { stage, arm in
      let artifact = try stage.host.artifacts("refused", "p0").first ?? ""
      arm()
      try stage.host.run(["refused", "resend", "p0", artifact], environment: stage.faults.environment)
    })

  private static let corrupt = SweepScenario(
    name: "corrupt", words: "the disk damaged the first of two artifacts",
    prepare: { stage in
      try configure(stage)
      for _ in 0..<2 { try stage.submit(0) }
      let queue = "relay-data/pipelines/p0/queue"
      let first = stage.host.names(in: queue).first ?? ""
      let part = stage.host.names(in: "\(queue)/\(first)").first ?? ""
      try Damage.flip(at: 3).apply(to: "\(stage.host.path)/\(queue)/\(first)/\(part)")
    }, act: deliverAll)

  private static let reload = SweepScenario(
    name: "reload", words: "a pipeline comes, one changes, one goes, while two artifacts wait",
    prepare: { stage in
      try stage.receiver.script("p0", "/status/503")
      for name in ["p1", "p2"] { try stage.receiver.script(name, "/status/201") }
      let slow = "\"spacing\": \"0s\", \"retryFirst\": \"1h\""
      try stage.host.configure(stage.pipeline(0, delivery: slow), stage.pipeline(1))
      for _ in 0..<2 { try stage.submit(0) }
      try stage.host.start(environment: stage.faults.environment)
      _ = try stage.waits(5) { try !stage.receiver.requests().isEmpty }
    },
    act: { stage, arm in
      try stage.receiver.script("p0", "/status/201")
      try stage.host.configure(stage.pipeline(0, settings: "\"headers\": {\"X-New\": \"1\"}"), stage.pipeline(2))
      arm()
      try stage.host.run("reload")
      _ = stage.waits(patience) { stage.isDrained }
    },
    mend: { stage in
      try stage.host.run("retry", "p0")
      try stage.submit(2)
    })

  private static let remove = SweepScenario(
    name: "remove", words: "a pipeline that left the configuration is removed with what waits in it",
    prepare: { stage in
      try stage.host.configure(stage.pipeline(0), stage.pipeline(1))
      try stage.receiver.script("p0", "/status/201")
      try stage.receiver.script("p1", "/status/201")
      try stage.submit(0)
      try stage.submit(1)
      try stage.host.configure(stage.pipeline(0))
    },
    act: { stage, arm in
      arm()
      try stage.host.run(["remove", "p1", "--yes"], environment: stage.faults.environment)
    },
    mend: { stage in
      // Whole or gone: what is still there is delivered when the pipeline comes back.
      if stage.queues.contains("p1") {
        try stage.host.configure(stage.pipeline(0), stage.pipeline(1))
        try stage.host.run("reload")
      } else {
        stage.note(.surfaced(pipeline: 1, artifact: 2))
      }
    })

  private static let backup = SweepScenario(
    name: "backup", words: "two artifacts are backed up; what is complete can be put back",
    effects: [.kill, .fails(EIO)],
    prepare: { stage in
      try configure(stage)
      for _ in 0..<2 { try stage.submit(0) }
    },
    act: { stage, arm in
      arm()
      let copy = stage.host.path + "/copy"
      let isDone = try stage.host.run(["backup", copy], environment: stage.faults.environment).status == 0
      stage.faults.stopStriking()
      // Half a backup is no backup, and the next one clears it.
      if isDone {
        try Command.demand(["rm", "-r", stage.host.state])
        try stage.demand("restore", copy)
      } else if try stage.host.run("backup", "--verify", copy).status != 0 {
        try stage.demand("backup", copy)
      }
    })

  private static let restore = SweepScenario(
    name: "restore", words: "a backup of two artifacts is put back, and begun again where that was broken",
    effects: [.kill, .fails(EIO), .fails(ENOSPC)],
    prepare: { stage in
      try configure(stage)
      for _ in 0..<2 { try stage.submit(0) }
      try stage.demand("backup", stage.host.path + "/copy")
      try Command.demand(["rm", "-r", stage.host.state])
    },
    act: { stage, arm in
      arm()
      let copy = stage.host.path + "/copy"
      let isDone = try stage.host.run(["restore", copy], environment: stage.faults.environment).status == 0
      stage.faults.stopStriking()
      guard !isDone else { return }
      // Half of it is taken for nothing else, and putting it back is begun again; unless all was there but the answer.
      if try stage.host.run("restore", copy).status != 0 { try stage.demand("status") }
    })

  /// What several crashes left: a staging folder, an artifact half removed, a state file half written, a foreign name.
  private static func leaveTraces(_ stage: Stage) throws {
    try stage.receiver.script("p0", "/status/201")
    try stage.host.configure(stage.pipeline(0))
    for _ in 0..<2 { try stage.submit(0) }
    let queue = "\(stage.host.path)/relay-data/pipelines/p0/queue"
    let inner = try Directory(queue)
    // Two that were begun; a copy of an artifact stands for one that was being removed.
    for name in [".in-01890000-0000-7000-8000-000000000001", ".in-01890000-0000-7000-8000-000000000002"] {
      try inner.makeFolder(name)
      try inner.folder(name).replace("000001-x", with: [1, 2, 3])
    }
    try inner.makeFolder(".trash-01890000-0000-7000-8000-000000000003")
    try inner.folder(".trash-01890000-0000-7000-8000-000000000003").replace("manifest.json", with: [123, 125])
    try Directory("\(stage.host.path)/relay-data/pipelines/p0").replace(".pipeline.json.new", with: [123])
    try Directory("\(stage.host.path)/relay-data/pipelines/p0/refused").makeFolder(
      ".trash-01890000-0000-7000-8000-000000000004")
  }

  private static let recover = SweepScenario(
    name: "recover", words: "a daemon starts over what crashes left, and delivers", prepare: leaveTraces,
    act: deliverAll,
    demands: { stage in
      let hidden = stage.queues.flatMap { stage.host.names(in: "relay-data/pipelines/\($0)/queue") }
      return hidden.isEmpty ? [] : ["left behind: \(hidden)"]
    })

  private static let recoverTwice = SweepScenario(
    name: "recover, broken again", words: "the same, killed again while it recovers", prepare: leaveTraces,
    act: deliverAll, breaksTwice: true)

  private static let inbox = SweepScenario(
    name: "inbox", words: "a file in the inbox becomes an artifact", effects: [.kill, .fails(EIO), .fails(ENOSPC)],
    prepare: { stage in
      try configure(stage)
      try stage.host.start(environment: stage.faults.environment)
      _ = stage.waits(10) { File.exists(stage.host.state + "/pipelines/p0/inbox") }
    },
    act: { stage, arm in
      let (artifact, words) = try stage.prepare(0, parts: 1)
      let name = words[2].split(separator: "/").last.map(String.init) ?? ""
      let inbox = "\(stage.host.path)/relay-data/pipelines/p0/inbox"
      arm()
      guard rename(words[2], "\(inbox)/\(name)") == 0 else { throw CallError("rename") }
      // What lies in an inbox is the program's to deliver from the moment it is there.
      stage.note(.acknowledged(pipeline: 0, artifact: artifact))
      // Its two seconds of quiet pass at once; the second name is the hint that lets the daemon look at its clock.
      _ = eventually(within: 0.3) { false }
      stage.faults.shiftBootClock(milliseconds: 5_000)
      try File.write([], to: "\(inbox)/.hint")
      _ = stage.waits(patience + 1) {
        stage.host.names(in: "relay-data/pipelines/p0/inbox") == [".hint"] && stage.isDrained
      }
      stage.faults.shiftBootClock(milliseconds: 0)
    },
    mend: { stage in
      _ = stage.waits(10) { stage.host.names(in: "relay-data/pipelines/p0/inbox") == [".hint"] }
    })
}

extension Stage {
  /// A command that must succeed; a queue that waits is no failure.
  func demand(_ words: String...) throws {
    let answer = try host.run(words)
    guard [0, 3].contains(answer.status) else { throw ScenarioProblem("\(words): \(answer.problems)") }
  }
}

extension Command {
  static func demand(_ words: [String]) throws {
    let result = try run(words)
    guard result.status == 0 else { throw ScenarioProblem("\(words): \(result.output)") }
  }
}
