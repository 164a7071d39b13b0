// SPDX-License-Identifier: Apache-2.0

/// How much waits in a pipeline's queue.
package struct QueueTotals: Equatable, Sendable {
  package var artifacts = 0
  package var parts = 0
  /// Of all parts as they are stored.
  package var bytes: Int64 = 0
  /// Before the first measurement, parts and bytes count only what came since the start.
  package var isMeasured = false

  package init(artifacts: Int = 0, parts: Int = 0, bytes: Int64 = 0, isMeasured: Bool = false) {
    self.artifacts = artifacts
    self.parts = parts
    self.bytes = bytes
    self.isMeasured = isMeasured
  }
}

/// What a pipeline may hold, and what must stay free on the disk.
package struct QueueLimits: Equatable, Sendable {
  package var bytes: Int64
  package var artifacts: Int
  /// Left free for marks, state files and the database, in bytes.
  package var freeBytes: UInt64
  package var freeInodes: UInt64

  package init(
    bytes: Int64 = 10_000_000_000, artifacts: Int = 10_000, freeBytes: UInt64 = 16_000_000, freeInodes: UInt64 = 1000
  ) {
    self.bytes = bytes
    self.artifacts = artifacts
    self.freeBytes = freeBytes
    self.freeInodes = freeInodes
  }
}

/// A pipeline's counters in memory: the next sequence, and what the queue holds.
package struct QueueBooks: Sendable {
  package struct Size: Equatable, Sendable {
    package var parts: Int
    package var bytes: Int64

    package init(parts: Int, bytes: Int64) {
      self.parts = parts
      self.bytes = bytes
    }
  }

  /// What changed while a measurement walks through the queue.
  private struct Changes: Sendable {
    var arrived: [UInt64: Size] = [:]
    var departed: Set<UInt64> = []
  }

  /// nil before the folders were looked through.
  var nextSequence: UInt64?
  package private(set) var totals = QueueTotals()
  private var changes: Changes?
  /// In the queue, and whether that is durable isn't known yet.
  private var published: Set<UInt64> = []
  /// Durable, and not announced yet.
  private var ready: Set<UInt64> = []
  /// Being staged: counted for admission, not yet in the queue.
  private var stagedArtifacts = 0
  private var stagedBytes: Int64 = 0

  package init() {}

  /// Whether one more artifact, or `more` bytes, fit.
  package mutating func reserve(artifacts: Int = 0, bytes: Int64 = 0, within limits: QueueLimits) -> Bool {
    let count = totals.artifacts + stagedArtifacts + artifacts
    let sum = totals.bytes.addingReportingOverflow(stagedBytes.addingReportingOverflow(bytes).partialValue)
    guard count <= limits.artifacts, !sum.overflow, sum.partialValue <= limits.bytes else { return false }
    stagedArtifacts += artifacts
    stagedBytes += bytes
    return true
  }

  package mutating func release(artifacts: Int, bytes: Int64) {
    stagedArtifacts = max(0, stagedArtifacts - artifacts)
    stagedBytes = max(0, stagedBytes - bytes)
  }

  package mutating func setArtifacts(_ count: Int) { totals.artifacts = count }

  package mutating func arrived(_ sequence: UInt64, _ size: Size) {
    totals.artifacts += 1
    changes?.arrived[sequence] = size
    add(size, 1)
  }

  /// `size` is nil where it isn't known; it is needed only once the queue was measured.
  package mutating func departed(_ sequence: UInt64, _ size: Size?) {
    totals.artifacts = max(0, totals.artifacts - 1)
    if changes != nil, changes?.arrived.removeValue(forKey: sequence) == nil { changes?.departed.insert(sequence) }
    if let size, totals.isMeasured { add(size, -1) }
  }

  package mutating func publish(_ sequence: UInt64) { published.insert(sequence) }

  /// The commit has ended, in whatever way: what is in the queue may be delivered.
  package mutating func settle(_ sequence: UInt64) {
    published.remove(sequence)
    ready.insert(sequence)
  }

  /// The sequences that may be announced now: none before a smaller one, however the threads that committed them ran.
  package mutating func takeReady() -> [UInt64] {
    let limit = published.min() ?? .max
    let taken = ready.filter { $0 < limit }
    ready.subtract(taken)
    return taken.sorted()
  }

  package mutating func beginMeasuring() { changes = Changes() }

  package mutating func abandonMeasuring() { changes = nil }

  /// Whether a measured artifact still counts: it had not come, or gone, since the measuring began.
  func stillCounts(_ sequence: UInt64) -> Bool { changes?.departed.contains(sequence) == false }

  package mutating func endMeasuring(_ found: [(sequence: UInt64, size: Size)]) {
    guard let changes else { return }
    totals.parts = 0
    totals.bytes = 0
    totals.isMeasured = true
    for entry in found
    where !changes.departed.contains(entry.sequence) && changes.arrived[entry.sequence] == nil {
      add(entry.size, 1)
    }
    for size in changes.arrived.values { add(size, 1) }
    self.changes = nil
  }

  private mutating func add(_ size: Size, _ sign: Int64) {
    totals.parts = max(0, totals.parts + size.parts * Int(sign))
    totals.bytes = max(0, totals.bytes.addingReportingOverflow(size.bytes &* sign).partialValue)
  }
}
