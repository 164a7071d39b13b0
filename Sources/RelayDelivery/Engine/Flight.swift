// SPDX-License-Identifier: Apache-2.0
import RelayQueue
import RelaySystem

/// One delivery under way: what was handed to the worker and how it is watched.
struct Flight {
  /// The machine's number of it, and the request id on the wire.
  var number: UInt64
  var deliveryID: String
  var isTest: Bool
  var part: PreparedPart
  var started: BootTime
  var clock: StallClock
  /// Writing to it makes the worker's `cancel_fd` readable.
  var cancel: Descriptor
  var ladder: KillLadder?
  /// Whether it is the stall clock that wants it to end, not a person or the end of the program.
  var isStalled = false
  /// Milliseconds for which nothing had moved by then.
  var silence: Int64 = 0
  /// What reading the whole part found, when it has been read.
  var content: PartContent?
  /// The worker's question for it, unanswered so far.
  var verifyRequest: UInt64?

  /// Whether all bytes of the part have gone into the target's hands.
  var isAllRead: Bool { (try? part.file.offset()).map { $0 >= part.length } ?? false }
}

/// A worker that belongs to a pipeline.
struct RunningWorker {
  var number: Int
  /// Tells its events from those of its predecessors.
  var token: UInt64
  /// It goes when what it is doing is done.
  var isLeaving = false
  var leaveLadder: KillLadder?
  var flight: Flight?
  var logAllowance: LineCollector
  /// What it was let into.
  var access: WorkerAccess
}
