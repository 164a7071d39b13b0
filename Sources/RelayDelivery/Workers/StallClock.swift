// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Tells whether a delivery still moves: the time since its last progress counts, never the time in all.
package struct StallClock: Equatable, Sendable {
  /// The longest silence while bytes are to be sent, in milliseconds.
  package var timeout: Int64
  /// The longest silence after everything was sent, in milliseconds.
  package var finalAnswer: Int64
  /// Bytes of the part.
  package var length: Int64
  private var lastProgress: BootTime
  private var offset: Int64 = 0

  package init(timeout: Int64, finalAnswer: Int64, length: Int64, now: BootTime) {
    self.timeout = timeout
    self.finalAnswer = finalAnswer
    self.length = length
    lastProgress = now
  }

  package mutating func progressed(at now: BootTime) { lastProgress = max(lastProgress, now) }

  /// Where the worker's reading of the part stands; a move in either direction is progress (a rewind reads again).
  package mutating func saw(offset new: Int64, at now: BootTime) {
    guard new != offset else { return }
    offset = new
    progressed(at: now)
  }

  /// Past this moment without progress the delivery counts as stalled.
  package var deadline: BootTime {
    lastProgress.advanced(milliseconds: offset >= length ? max(timeout, finalAnswer) : timeout)
  }

  package func silence(at now: BootTime) -> Int64 { now.milliseconds(since: lastProgress) }
}
