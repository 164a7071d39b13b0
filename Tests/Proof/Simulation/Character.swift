// SPDX-License-Identifier: Apache-2.0

/// How hostile one run's world is: each seed has a character of its own, so that faults come alone, in pairs and all at
/// once. Numbers are per mille.
struct Character {
  var pipelines = 1
  var places = 1
  /// A write or sync of a mark, a state file or a folder fails.
  var diskErrors = 0
  /// The same for marks alone, on top of it.
  var markErrors = 0
  /// An artifact can't be opened just now.
  var openErrors = 0
  /// What can't be read for a while, or ever again.
  var damage = 0
  var crashes = 0
  /// Of the crashes, those that take the page cache along.
  var powerCuts = 500
  var clockJumps = 0
  var receiverRefuses = 0
  var receiverBusy = 0
  var receiverAttention = 0
  var answersLost = 0
  var workersLie = 0
  var workersDie = 0
  var people = 0
  var configuration = 0
  /// Commits are announced in the order in which they end, not in that of their sequences.
  var announcesOutOfOrder = false
  /// Removals fail for long, and much is queued.
  var removalsFail = false
  var firstArtifacts = 3
  var holdsUnsure = false
  var isIdempotent = false
  /// Manifests are written and read by the program's own code.
  var hasManifests = false

  init(_ chance: inout SeededChance) {
    pipelines = 1 + chance.below(3)
    places = 1 + chance.below(pipelines)
    func some(_ chance: inout SeededChance, _ most: Int) -> Int {
      chance.happens(500) ? 0 : 1 + chance.below(most)
    }
    diskErrors = some(&chance, 200)
    damage = some(&chance, 60)
    openErrors = some(&chance, 400)
    crashes = some(&chance, 25)
    powerCuts = chance.below(1001)
    clockJumps = some(&chance, 20)
    receiverRefuses = some(&chance, 150)
    receiverBusy = some(&chance, 500)
    receiverAttention = some(&chance, 100)
    answersLost = some(&chance, 200)
    workersLie = some(&chance, 150)
    workersDie = some(&chance, 300)
    people = some(&chance, 120)
    configuration = some(&chance, 60)
    announcesOutOfOrder = chance.happens(150)
    holdsUnsure = chance.happens(300)
    isIdempotent = chance.happens(300)
    firstArtifacts = chance.below(6)
    hasManifests = chance.happens(100)
    if chance.happens(200) {
      markErrors = 500 + chance.below(300)
      crashes = 60
      powerCuts = 500
    }
    if chance.happens(50) {
      workersDie = 900
      workersLie = 0
      receiverBusy = 0
      people = 0
      crashes = 0
    }
    if chance.happens(20) {
      removalsFail = true
      pipelines = 1
      places = 1
      diskErrors = 0
      markErrors = 0
      crashes = 0
      damage = 0
      receiverBusy = 0
      workersDie = 0
      people = 0
      configuration = 0
      firstArtifacts = 90
    }
  }
}
