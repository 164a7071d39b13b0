// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayQueue
import RelaySystem

/// What the machine needs to know of the artifact at the head.
package struct HeadArtifact: Equatable, Sendable {
  package var sequence: UInt64
  package var artifact: Identifier
  package var partCount: UInt32

  package init(sequence: UInt64, artifact: Identifier, partCount: UInt32) {
    self.sequence = sequence
    self.artifact = artifact
    self.partCount = partCount
  }
}

/// What happened to a pipeline.
package enum DeliveryEvent: Sendable {
  case loaded(
    queue: [UInt64], position: MarkRecord, attention: Attention?, pausedByCommand: Bool)
  case committed(sequence: UInt64)
  case opened(HeadArtifact)
  /// The artifact's folder isn't what was accepted.
  case damaged(sequence: UInt64, reason: String)
  /// The artifact couldn't be read just now (permissions, I/O, no descriptors): nothing is known of it.
  case unreadable(sequence: UInt64, reason: String)
  case placeGranted
  /// A worker couldn't be started for want of something of the machine: no attempt.
  case notStarted(reason: String)
  /// What was to be sent never reached a worker, because the one that was there is going: no attempt.
  case handedBack
  case verdict(number: UInt64, DeliveryVerdict)
  case marked
  case markFailed(reason: String)
  /// The artifact is in `refused/` or `corrupt/` now.
  case movedAway(sequence: UInt64)
  case moveFailed(sequence: UInt64, reason: String)
  /// The artifact can't be set aside before a person does something: `refused/` is full.
  case stopped(sequence: UInt64, code: DiagnosticCode, message: String)
  case removed(sequences: [UInt64])
  case timer
  case pause(byCommand: Bool?, byConfiguration: Bool?)
  /// A person says go on: ends needs attention and any wait.
  case resume
  /// A person says try now: ends a wait once, never needs attention.
  case tryNow
  case drop(sequence: UInt64)
  case rules(DeliveryRules)
  /// Why the target can't be used, nil when it can.
  case target(problem: String?)
  /// The target may take other things at once than the one before: what waits at the head is opened again.
  case openAnew
  /// Settings or secrets of the pipeline changed.
  case changed
  case testRequested
  case testEnded(passed: Bool)
  /// Nothing new is begun; what is in flight may end by itself.
  case stopping
  /// What is in flight is to end now.
  case cancel
}

/// What is to be done for a pipeline.
package enum DeliveryAction: Equatable, Sendable {
  case open(sequence: UInt64)
  case requestPlace
  case releasePlace
  case send(number: UInt64, sequence: UInt64, part: UInt32, attempt: UInt32)
  case sendTest
  case mark(MarkRecord)
  case moveToCorrupt(sequence: UInt64, reason: String)
  case setAside(sequence: UInt64, part: UInt32, attempts: UInt32, DeliveryVerdict)
  /// Delivered artifacts, which leave the queue.
  case remove(sequences: [UInt64])
  /// The artifact gets a new sequence, as the last of the queue.
  case requeue(sequence: UInt64)
  case cancel
  /// The worker goes after what it is doing; the next delivery gets a new one.
  case dismissWorker
  case eraseDeliveryState
  case setTimer(BootTime?)
  case save(attention: Attention?, pausedByCommand: Bool)
  case record(sequence: UInt64, part: UInt32, attempt: UInt32, DeliveryVerdict, nextAttempt: WallTime?)
  case note(String)
}
