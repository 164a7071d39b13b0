// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// How far a pipeline's delivery has come: everything that the next attempt depends on.
package struct MarkRecord: Equatable, Sendable {
  package struct Flags: OptionSet, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// An attempt has begun after which a person decides if it may have arrived; what followed isn't written yet.
    package static let begun = Flags(rawValue: 4)
  }

  /// An artifact that was delivered whole and is still to be removed.
  package struct PendingRemoval: Hashable, Sendable {
    package var sequence: UInt64
    package var artifactID: Identifier

    package init(sequence: UInt64, artifactID: Identifier) {
      self.sequence = sequence
      self.artifactID = artifactID
    }
  }

  package static let mostPendingRemovals = 64

  /// Counts the records of a file; given when one is written.
  package internal(set) var generation: UInt64 = 0
  /// All artifacts up to this sequence are done with: delivered or set aside. 0 before the first.
  package var completedThrough: UInt64 = 0
  /// The artifact in delivery; 0 and nil when none is.
  package var headSequence: UInt64 = 0
  package var headArtifactID: Identifier?
  /// Parts of the head that were accepted.
  package var headPartsDone: UInt32 = 0
  /// Attempts of the head's next part.
  package var attempts: UInt32 = 0
  /// How often the backoff has doubled; a pipeline's, reset by any success.
  package var backoffStep: UInt32 = 0
  package var nextAttempt: WallTime?
  /// Of the head's next part.
  package var firstAttempt: WallTime?
  package var waitStarted: WallTime?
  /// How often the head's next part ended its worker without a verdict.
  package var partMisbehaviours: UInt32 = 0
  /// How often that happened in a row, over parts.
  package var rowMisbehaviours: UInt32 = 0
  package var flags: Flags = []
  package var stuckSince: WallTime?
  /// At most `mostPendingRemovals`; a write with more fails.
  package var pendingRemovals: [PendingRemoval] = []

  package init() {}
}

extension MarkRecord {
  package static let slotSize = 4096
  private static let magic = Array("RELAYMK1".utf8)

  /// One slot's bytes: the record, zeros, and a checksum over both.
  package func encoded() -> [UInt8] {
    var writer = LittleEndianWriter(bytes: Self.magic)
    writer.put(generation)
    writer.put(completedThrough)
    writer.put(headSequence)
    writer.put(headArtifactID)
    for count in [headPartsDone, attempts, backoffStep, partMisbehaviours, rowMisbehaviours, flags.rawValue] {
      writer.put(count)
    }
    for time in [nextAttempt, firstAttempt, waitStarted, stuckSince] { writer.put(time) }
    let pending = pendingRemovals.prefix(Self.mostPendingRemovals)
    writer.put(UInt32(pending.count))
    for removal in pending {
      writer.put(removal.sequence)
      writer.put(removal.artifactID)
    }
    writer.pad(to: Self.slotSize - 8)
    writer.put(CRC64.of(writer.bytes[...]))
    return writer.bytes
  }

  /// Reads a slot; nil unless every byte is as it was written.
  package init?(slot: ArraySlice<UInt8>) {
    guard slot.count == Self.slotSize else { return nil }
    var tail = LittleEndianReader(slot.suffix(8))
    guard tail.integer(UInt64.self) == CRC64.of(slot.dropLast(8)) || BrokenQueue.promise(.markChecksum) else {
      return nil
    }
    var reader = LittleEndianReader(slot.dropLast(8))
    guard let magic = reader.take(8), Array(magic) == Self.magic,
      let generation = reader.integer(UInt64.self), generation > 0,
      let completedThrough = reader.integer(UInt64.self), let headSequence = reader.integer(UInt64.self),
      let head = reader.identifier(),
      let headPartsDone = reader.integer(UInt32.self), let attempts = reader.integer(UInt32.self),
      let backoffStep = reader.integer(UInt32.self), let partMisbehaviours = reader.integer(UInt32.self),
      let rowMisbehaviours = reader.integer(UInt32.self), let flags = reader.integer(UInt32.self),
      let nextAttempt = reader.time(), let firstAttempt = reader.time(), let waitStarted = reader.time(),
      let stuckSince = reader.time(), let count = reader.integer(UInt32.self), count <= Self.mostPendingRemovals
    else { return nil }
    self.generation = generation
    self.completedThrough = completedThrough
    self.headSequence = headSequence
    headArtifactID = head.bytes.allSatisfy { $0 == 0 } ? nil : head
    self.headPartsDone = headPartsDone
    self.attempts = attempts
    self.backoffStep = BrokenQueue.promise(.markFields) ? 0 : backoffStep
    self.partMisbehaviours = partMisbehaviours
    self.rowMisbehaviours = rowMisbehaviours
    self.flags = Flags(rawValue: flags)
    self.nextAttempt = nextAttempt
    self.firstAttempt = firstAttempt
    self.waitStarted = waitStarted
    self.stuckSince = stuckSince
    for _ in 0..<count {
      guard let sequence = reader.integer(UInt64.self), let id = reader.identifier() else { return nil }
      pendingRemovals.append(PendingRemoval(sequence: sequence, artifactID: id))
    }
  }
}
