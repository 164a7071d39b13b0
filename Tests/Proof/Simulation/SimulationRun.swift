// SPDX-License-Identifier: Apache-2.0

/// What came of one seed.
package struct SimulationRun: Sendable {
  package var seed: UInt64
  package var events = 0
  package var crashes = 0
  package var deliveries = 0
  package var artifacts = 0
  /// In words, each with its pipeline.
  package var violations: [String] = []
  /// What happened, one thing a line; empty unless it was asked for.
  package var history: [String] = []

  /// Runs the world that a seed makes.
  package init(seed: UInt64, steps: Int = 400, withHistory: Bool = false) {
    self.seed = seed
    let simulation = Simulation(seed: seed, isTracing: withHistory)
    simulation.run(steps: steps)
    events = simulation.eventCount
    crashes = simulation.crashCount
    deliveries = simulation.deliveryCount
    artifacts = simulation.artifactCount
    violations = simulation.violations
    history = simulation.history
  }
}
