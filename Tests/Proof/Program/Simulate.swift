// SPDX-License-Identifier: Apache-2.0
import RelaySimulation

/// Tries the delivery logic in simulated worlds, one a seed.
struct Simulate {
  var first: UInt64 = 1
  var count: UInt64 = 1000
  var steps = 400
  /// Ends at the first seed that finds something.
  var endsWhenFound = false

  /// Plays one seed and prints what happened in it. Returns how the program exits.
  func replay(_ seed: UInt64) -> Int32 {
    let run = SimulationRun(seed: seed, steps: steps, withHistory: true)
    for line in run.history { say(line) }
    say("seed \(seed): \(run.events) events, \(run.crashes) crashes, \(run.violations.count) violations")
    for violation in run.violations { say("  \(violation)") }
    return run.violations.isEmpty ? 0 : 1
  }

  /// Plays all seeds and prints those that find something. Returns how the program exits.
  func run() -> Int32 {
    var (events, crashes, deliveries, artifacts, failed) = (0, 0, 0, 0, 0)
    for number in 0..<count {
      let seed = first &+ number
      let run = SimulationRun(seed: seed, steps: steps)
      events += run.events
      crashes += run.crashes
      deliveries += run.deliveries
      artifacts += run.artifacts
      guard let violation = run.violations.first else { continue }
      failed += 1
      if endsWhenFound {
        say("seed \(seed): \(violation)")
        return 1
      }
      if failed <= 20 {
        say("seed \(seed): \(violation)\n  replay: relay-proof simulate --seed \(seed) --steps \(steps)")
      }
    }
    say(
      "\(count) seeds, \(events) events, \(crashes) crashes, \(artifacts) artifacts, \(deliveries) deliveries, "
        + "\(failed) seeds with violations")
    return failed == 0 ? 0 : 1
  }
}
