// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySimulation

/// What was asked for on the command line.
struct Options {
  var first: UInt64 = 1
  var count: UInt64 = 1000
  var steps = 400
  /// Ends at the first seed that finds something.
  var endsWhenFound = false
  /// One seed with its history.
  var replayed: UInt64?

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      guard let text = rest.popFirst(), let value = UInt64(text) else { return nil }
      switch name {
      case "--seeds": count = value
      case "--first-seed": first = value
      case "--seed": replayed = value
      case "--until-found": endsWhenFound = value != 0
      case "--steps": steps = Int(clamping: value)
      default: return nil
      }
    }
  }
}

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
  print("relay-simulate [--seeds N] [--first-seed K] [--steps M] | --seed S [--steps M]")
  exit(64)
}

if let seed = options.replayed {
  let run = SimulationRun(seed: seed, steps: options.steps, withHistory: true)
  for line in run.history { print(line) }
  print("seed \(seed): \(run.events) events, \(run.crashes) crashes, \(run.violations.count) violations")
  for violation in run.violations { print("  \(violation)") }
  exit(run.violations.isEmpty ? 0 : 1)
}

var (events, crashes, deliveries, artifacts, failed) = (0, 0, 0, 0, 0)
for seed in options.first..<(options.first &+ options.count) {
  let run = SimulationRun(seed: seed, steps: options.steps)
  events += run.events
  crashes += run.crashes
  deliveries += run.deliveries
  artifacts += run.artifacts
  guard let violation = run.violations.first else { continue }
  failed += 1
  if options.endsWhenFound {
    print("seed \(seed): \(violation)")
    exit(1)
  }
  if failed <= 20 {
    print("seed \(seed): \(violation)\n  replay: relay-simulate --seed \(seed) --steps \(options.steps)")
  }
}
print(
  "\(options.count) seeds, \(events) events, \(crashes) crashes, \(artifacts) artifacts, \(deliveries) deliveries, "
    + "\(failed) seeds with violations")
exit(failed == 0 ? 0 : 1)
