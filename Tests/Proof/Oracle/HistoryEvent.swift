// SPDX-License-Identifier: Apache-2.0

/// One part that somebody handed over, named by the producer.
package struct ProofItem: Hashable, Sendable, CustomStringConvertible {
  package var pipeline: Int
  package var artifact: Int
  /// From 1.
  package var part: Int

  package init(pipeline: Int, artifact: Int, part: Int) {
    self.pipeline = pipeline
    self.artifact = artifact
    self.part = part
  }

  package var description: String { "pipeline \(pipeline) artifact \(artifact) part \(part)" }
}

/// What a producer, a receiver and whoever breaks things have seen, in the order in which it happened.
package enum HistoryEvent: Equatable, Sendable {
  /// The producer begins to hand over an artifact of so many parts, each with these bytes.
  case handed(pipeline: Int, artifact: Int, digests: [String])
  /// It was told that the artifact is accepted: from here on it must not be lost.
  case acknowledged(pipeline: Int, artifact: Int)
  /// The receiver has read a part whole. `accepted`: it took it, whether or not the sender heard so.
  case received(ProofItem, identity: String, digest: String, accepted: Bool)
  /// Something that gives one repeat to this pipeline: the host or its worker died, or an answer was lost.
  case broke(pipeline: Int)
  /// The artifact lies in `refused/` or `corrupt/`, or a person was told of it: it isn't owed any more.
  case surfaced(pipeline: Int, artifact: Int)
  /// Two deliveries of one pipeline were under way at once.
  case overlapped(pipeline: Int)
  /// Milliseconds between the end of a delivery and the beginning of the next, when both were of one daemon.
  case gap(pipeline: Int, milliseconds: Int)
  /// What a process held when nothing was to be done; the first is what later ones are compared with.
  case idle(descriptors: Int, threads: Int, residentBytes: Int)
  /// The share of a processor that the process took while nothing was to be done, of 1.
  case idleLoad(Double)
}
