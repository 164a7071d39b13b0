// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayOracle
import RelayTestSupport
import ScenarioSupport

/// The command line of the proofs.
enum ProofCommand {
  static let usage = """
    usage: relay-proof sweep|powercut|soak|simulate [--program PATH] [--seconds N] [--seed S] [--record FILE]
                       [--scenario NAME] [--effect NAME] [--at N] [--sample N] [--lanes N]
                       [--seeds N] [--first-seed K] [--steps M] [--until-found true]

      sweep   each scenario is broken at each of its durable, network and process calls: killed, with errors, cut short
              --sample 20 tries about twenty points of each; --scenario deliver --effect kill --at 7 plays one again

      powercut  the state folder lies on a disk of its own, whose power is cut at each durable call (root only)

      soak      hands artifacts over for --seconds N while the daemon is killed, its calls fail, clocks jump and receivers
                make trouble; --seed S repeats the choices, --record FILE adds a line to a table

      simulate  plays the delivery logic in --seeds N simulated worlds from --first-seed K on, --steps M long each;
                --seed S plays one and prints its history, --until-found true ends at the first that finds something

    example: relay-proof sweep --program dist/bin/relay-host

    """

  static func run(_ words: [String]) -> Int32 {
    var options: [String: String] = [:]
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      if word == "--help" || word == "-h" {
        say(usage)
        return 0
      }
      guard word.hasPrefix("--"), let value = rest.popFirst() else { return wrong("what is \(word)?") }
      options[String(word.dropFirst(2))] = value
    }
    if let problem = mistake(in: options) { return wrong(problem) }
    do {
      switch words.first {
      case "sweep": return try sweep(options, SweepScenario.all)
      case "soak": return try soak(options)
      case "powercut": return try powerCut(options)
      case "simulate": return simulate(options)
      default: return wrong("what is to be done?")
      }
    } catch {
      say("relay-proof: \(error)")
      return 1
    }
  }

  /// A run that tries nothing must not look like one that finds nothing.
  private static func mistake(in options: [String: String]) -> String? {
    let numbers: Set = ["seconds", "seed", "at", "sample", "lanes", "seeds", "first-seed", "steps"]
    let names: Set = ["program", "record", "scenario", "effect", "until-found"]
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      guard numbers.contains(name) || names.contains(name) else { return "there is no option --\(name)" }
      guard numbers.contains(name) else { continue }
      guard let number = UInt64(value), number > 0 || name == "first-seed", number <= Int.max else {
        return "--\(name) takes a number above 0, not \(value)"
      }
    }
    let scenarios = (SweepScenario.all + SweepScenario.durable).map(\.name)
    if let name = options["scenario"], !scenarios.contains(name) {
      return "there is no scenario \"\(name)\"; there are \(SweepScenario.all.map(\.name).joined(separator: ", "))"
    }
    let effects = Set(SweepScenario.all.flatMap { $0.effects.map { "\($0)" } } + ["\(FaultControl.Effect.powerCut)"])
    if let effect = options["effect"], !effects.contains(effect) {
      return "there is no effect \"\(effect)\"; there are \(effects.sorted().joined(separator: ", "))"
    }
    return nil
  }

  private static func wrong(_ problem: String) -> Int32 {
    say("relay-proof: \(problem)\n\(usage)")
    return 2
  }

  private static func powerCut(_ options: [String: String]) throws -> Int32 {
    do {
      return try sweep(options, SweepScenario.durable, cutsPower: true)
    } catch is Stage.NoDisk {
      return 0
    }
  }

  private static func sweep(
    _ options: [String: String], _ scenarios: [SweepScenario], cutsPower: Bool = false
  ) throws -> Int32 {
    var sweep = Sweep(program: options["program"].map(absolute) ?? Installation.program)
    sweep.sample = options["sample"].flatMap { Int($0) }
    sweep.lanes = options["lanes"].flatMap { Int($0) } ?? sweep.lanes
    sweep.cutsPower = cutsPower
    sweep.onlyEffect = options["effect"]
    sweep.onlyPoint = options["at"].flatMap { UInt64($0) }
    var (runs, violations) = (0, 0)
    say("\(pad("scenario", 24))\(pad("points", 8))\(pad("runs", 8))\(pad("broken", 8))\(pad("violations", 12))")
    for scenario in scenarios where options["scenario"] ?? scenario.name == scenario.name {
      let row = try sweep.run(scenario)
      violations += row.findings.count
      runs += row.struck
      say(
        pad(row.scenario, 24) + pad("\(row.points)", 8) + pad("\(row.tried)", 8) + pad("\(row.struck)", 8)
          + pad("\(row.findings.count)", 12) + scenario.words)
      for finding in row.findings { say("  \(finding)") }
    }
    guard runs > 0 else { return wrong("nothing was tried: no scenario has that effect, or no call of that number") }
    say("violations \(violations)")
    return violations == 0 ? 0 : 1
  }

  private static func simulate(_ options: [String: String]) -> Int32 {
    var simulate = Simulate()
    simulate.first = options["first-seed"].flatMap { UInt64($0) } ?? simulate.first
    simulate.count = options["seeds"].flatMap { UInt64($0) } ?? simulate.count
    simulate.steps = options["steps"].flatMap { Int($0) } ?? simulate.steps
    simulate.endsWhenFound = options["until-found"] == "true"
    return options["seed"].flatMap { UInt64($0) }.map(simulate.replay) ?? simulate.run()
  }

  private static func soak(_ options: [String: String]) throws -> Int32 {
    let seed = options["seed"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
    let seconds = options["seconds"].flatMap { Int($0) } ?? 600
    say("seed \(seed), \(seconds) seconds")
    let soak = try Soak(program: options["program"].map(absolute) ?? Installation.program, seed: seed)
    try soak.run(seconds: seconds)
    let sum = soak.sum
    let broken = Dictionary(grouping: sum.violations, by: \.promise).mapValues(\.count)
    say(
      "\(sum.seconds) s, \(sum.rounds) rounds: \(sum.accepted) artifacts accepted, \(sum.delivered) parts delivered; "
        + "\(sum.hostKills) kills of the host, \(sum.workerKills) of workers, \(sum.callFaults) calls failed, "
        + "\(sum.clockJumps) clock jumps, \(sum.reloads) reloads, \(sum.inboxFiles) files by an inbox")
    say(
      "lost \(broken[.nothingLost] ?? 0), reordered \(broken[.inOrder] ?? 0), repeats \(sum.repeats), under another identity "
        + "\(broken[.sameEachTime] ?? 0), unexplained \(broken[.fewRepeats] ?? 0), violations \(sum.violations.count)")
    if let file = options["record"] {
      let row =
        "| \(Today.text) | \(seed) | \(sum.seconds) | \(sum.accepted) | \(sum.delivered) | \(sum.hostKills) | \(sum.workerKills) | "
        + "\(sum.callFaults) | \(sum.clockJumps) | \(sum.repeats) | \(sum.violations.count) |\n"
      guard let opened = fopen(file, "a") else { throw CallError("open \(file)") }
      fputs(row, opened)
      fclose(opened)
    }
    return sum.violations.isEmpty ? 0 : 1
  }

  /// Programs under test are started from folders of their own.
  private static func absolute(_ path: String) -> String {
    guard let whole = realpath(path, nil) else { return path }
    defer { free(whole) }
    return String(cString: whole)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}

/// Writes a line at once, also into a pipe.
func say(_ text: String) {
  let bytes = Array((text + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}

/// The day, as YYYY-MM-DD in UTC.
enum Today {
  static var text: String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var buffer = [CChar](repeating: 0, count: 16)
    let length = strftime(&buffer, buffer.count, "%Y-%m-%d", &parts)
    return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
