// SPDX-License-Identifier: Apache-2.0
import ScenarioSupport

/// Something that the program does, which is broken at each of its calls in turn.
struct SweepScenario: Sendable {
  var name: String
  var words: String
  /// The calls that are counted.
  var kinds: FaultControl.Kinds = [.durable, .network, .process]
  /// What it is broken with, besides being killed.
  var effects: [FaultControl.Effect] = Self.allEffects
  /// Whether the calls of the workers are counted, else those of the program itself.
  var strikesWorkers = false
  /// Whether no daemon has run there before, so that it asks the targets what they are; most scenarios are after that.
  var isCold = false
  /// Puts the installation into the state from which it starts; nothing is struck yet.
  var prepare: @Sendable (Stage) throws -> Void
  /// Does it: begins by calling `arm`, starts programs with the shim's environment, and returns when nothing more will happen.
  var act: @Sendable (Stage, _ arm: () -> Void) throws -> Void
  /// What a person does once an undisturbed daemon runs, for example letting a paused pipeline go.
  var mend: @Sendable (Stage) throws -> Void = { _ in }
  /// What must hold besides the oracle's promises once a daemon has run undisturbed; a text for each thing that doesn't.
  var demands: @Sendable (Stage) throws -> [String] = { _ in [] }
  /// Begun again after a kill, with the same act, before the undisturbed run: to break the mending as well.
  var breaksTwice = false

  static let allEffects: [FaultControl.Effect] = [.kill, .fails(5), .fails(28), .fails(4), .short]
}
