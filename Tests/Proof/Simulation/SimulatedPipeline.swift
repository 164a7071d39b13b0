// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue
import RelaySystem

/// What `pipeline.json` says of delivery.
struct SavedState: Equatable {
  var attention: Attention?
  var pausedByCommand = false
}

/// A file that is replaced whole, on a disk that forgets.
struct SimulatedState {
  private(set) var cached = SavedState()
  private var candidates = [SavedState()]
  private var isDirty = false
  /// What the process believes is there.
  var loaded: SavedState?
  /// A replacement failed half-way: what is there isn't known.
  var isDoubtful = false

  var isCertain: Bool { candidates.count == 1 }

  mutating func replace(with new: SavedState) {
    cached = new
    candidates.append(new)
    isDirty = true
  }

  mutating func synced(_ succeeded: Bool) {
    guard isDirty else { return }
    isDirty = false
    if succeeded { candidates = [cached] }
  }

  mutating func powerCut(_ chance: inout SeededChance) {
    if candidates.count > 1 { cached = candidates[chance.below(candidates.count)] }
    candidates = [cached]
    isDirty = false
  }
}

/// Work on the disk, as the engine queues it for one pipeline.
enum DiskJob {
  case load(runtime: Int)
  case open(UInt64)
  case prepare(number: UInt64, sequence: UInt64, part: UInt32, attempt: UInt32, isForNewWorker: Bool, generation: Int)
  case mark(MarkRecord)
  case move(UInt64, to: SimulatedArtifact.Place, isRefusal: Bool)
  case remove(UInt64)
  case requeue(UInt64)
  case save(SavedState)
}

/// What was found when a part was to be handed over.
enum Preparation {
  case ready, damaged, unreadable, secretMissing
}

/// What comes back to the event loop.
enum Posted {
  case event(DeliveryEvent)
  case loaded(runtime: Int, queue: [UInt64], remaining: Set<UInt64>)
  case loadFailed(runtime: Int)
  case opened(UInt64, SimulatedArtifact?)
  case prepared(
    number: UInt64, SimulatedArtifact, part: UInt32, attempt: UInt32, isForNewWorker: Bool, generation: Int,
    Preparation)
  case announce
  case removeFailed(UInt64)
  case saveFailed
}

/// A delivery that a worker has in hand.
struct SimulatedFlight {
  var number: UInt64
  var artifact: SimulatedArtifact?
  var part: UInt32
  var isCancelled = false
  var isReceived = false

  var isTest: Bool { artifact == nil }
}

struct SimulatedWorker {
  var isLeaving = false
  var flight: SimulatedFlight?
  var idleSince: Int64
}

/// One pipeline of the world: what is on the disk of it, and what the running host holds of it.
final class SimulatedPipeline {
  let index: Int
  let id: String

  // The disk.
  var artifacts: [SimulatedArtifact] = []
  var marks = SimulatedMarks()
  var state = SimulatedState()
  var isRefusedFull = false

  // The configuration.
  var rules: DeliveryRules
  var settings = 0
  var isWanted = true
  var isPausedByConfiguration = false
  var targetProblem: String?
  var isSecretMissing = false

  // The host, while it is up.
  var machine: DeliveryMachine?
  var runtime = 0
  var isFolderOpen = false
  /// Marks and state were opened by this process.
  var isFolderKept = false
  var leftByRecovery: Set<UInt64> = []
  var lastMoved: SimulatedArtifact?
  var lastMovedSequence: UInt64 = 0
  var lastMoveWasRefusal = false
  var isRetired = false
  var books = QueueBooks()
  var nextSequence: UInt64?
  var jobs: [DiskJob] = []
  var events: [DeliveryEvent] = []
  var isHandling = false
  var isHandingOver = false
  var generation = 0
  var openArtifact: SimulatedArtifact?
  var worker: SimulatedWorker?
  var timer: Int64?
  var loadTimer: Int64?
  var saveTimer: Int64?
  var hangingRemovals: [UInt64] = []
  var removeTimers: [(sequence: UInt64, at: Int64)] = []

  var promises = Promises()

  init(index: Int, rules: DeliveryRules) {
    self.index = index
    id = "p\(index)"
    self.rules = rules
    self.rules.fingerprint = "0"
  }

  func artifact(at sequence: UInt64) -> SimulatedArtifact? {
    artifacts.first { $0.place == .queue(sequence) }
  }

  /// The largest number that any name on the disk holds.
  var largestSequence: UInt64 {
    artifacts.reduce(0) { largest, artifact in
      artifact.place == .nowhere ? largest : max(largest, artifact.lastSequence)
    }
  }

  func synced(_ succeeded: Bool) {
    for artifact in artifacts where artifact.isDirty { artifact.folderSynced(succeeded) }
  }

  /// Everything that ended with the process.
  func hostDied() {
    machine = nil
    runtime += 1
    isFolderOpen = false
    isFolderKept = false
    lastMoved = nil
    isRetired = false
    books = QueueBooks()
    nextSequence = nil
    jobs = []
    events = []
    isHandling = false
    isHandingOver = false
    openArtifact = nil
    worker = nil
    timer = nil
    loadTimer = nil
    saveTimer = nil
    removeTimers = []
    hangingRemovals = []
    state.loaded = nil
    state.isDoubtful = false
  }
}
