// SPDX-License-Identifier: Apache-2.0
import RelaySimulation
import RelayTestSupport
import Testing

@Suite struct `The simulated world` {
  private static func found(by seed: UInt64) -> String? {
    SimulationRun(seed: seed).violations.first.map {
      "seed \(seed): \($0); replay: relay-proof simulate --seed \(seed)"
    }
  }

  @Test func `keeps every promise over some hundred seeds`() {
    for seed in 1...UInt64(300) { #expect(Self.found(by: seed) == nil) }
  }

  @Test func `keeps every promise over the seeds that once found something`() throws {
    let text = try Repository.text(of: "Tests/Proof/Simulation/kept-seeds.txt")
    let seeds = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
      $0.split(separator: " ").first.flatMap { UInt64($0) }
    }
    #expect(!seeds.isEmpty)
    for seed in seeds { #expect(Self.found(by: seed) == nil) }
  }

  @Test func `is the same for the same seed`() {
    for seed in 1...UInt64(20) {
      let (first, second) = (SimulationRun(seed: seed, withHistory: true), SimulationRun(seed: seed, withHistory: true))
      #expect(first.history == second.history && !first.history.isEmpty)
    }
  }

  @Test func `crashes, delivers and loses answers enough to prove something`() {
    var (crashes, deliveries, artifacts) = (0, 0, 0)
    for seed in 1...UInt64(100) {
      let run = SimulationRun(seed: seed)
      crashes += run.crashes
      deliveries += run.deliveries
      artifacts += run.artifacts
    }
    #expect(crashes > 50 && deliveries > artifacts && artifacts > 1000)
  }
}
