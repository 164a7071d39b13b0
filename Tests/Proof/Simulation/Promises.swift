// SPDX-License-Identifier: Apache-2.0
import RelayDelivery
import RelayQueue

/// What holds for one pipeline by the design, kept from outside the machine: it learns what happens and says what must
/// not happen next.
struct Promises {
  /// What a restart must find again once it was marked.
  struct Wait: Equatable {
    /// Nothing is sent before this moment, on the world's own clock.
    var floor = Int64.min
    /// How far the wall clock was off when the floor was set: one that stepped since excuses a shorter wait at a restart.
    var wallOffset: Int64 = 0
    var step: UInt32 = 0
    var attempts: UInt32 = 0
    var row = 0
    var partRow = 0
  }

  /// A delivery that the machine wants and that hasn't ended.
  struct Sending {
    var number: UInt64
    var artifact: SimulatedArtifact
    var sequence: UInt64
    var part: UInt32
  }

  var wait = Wait()
  /// As it was when the mark that is under way was begun.
  var writtenWait = Wait()
  var markedWait = Wait()
  var confirmedGeneration: UInt64 = 0
  /// What was found at the start, or anything newer, must be on the disk before the next thing goes out.
  var leastGeneration: UInt64 = 0
  /// How many parts of an artifact were accepted, as the host knows it; by the artifact's number.
  var accepted: [Int: UInt32] = [:]
  /// What the marks on the disk must say before the next thing goes out.
  var unmarked: (sequence: UInt64, part: UInt32)?
  var sending: Sending?
  /// Sent where a person decides if it may have arrived, and what came of it isn't on the disk: it outlives the host.
  var begun: (artifact: Int, part: UInt32)?
  /// Of this process; nothing follows it before the spacing is over, whatever a person says.
  var lastDelivery: Int64?
  var isHeld = false
  var isReleasedEarly = false
  var isTriedEarly = false
  /// Artifacts that the machine was told of.
  var known: Set<Int> = []
  /// Those that are to get a new number.
  var late: Set<Int> = []
  var dropped: Set<Int> = []
  var mayBeSetAside: Set<Int> = []
  /// Refused, or too much for its target: not sent again.
  var isToLeave: Set<Int> = []
  /// What a person said last, as far as it is saved.
  var isPausedByCommand = false
  /// Said before the disk was read.
  var pausedEarly: Bool?
  /// The longest wait that the last verdict allows.
  var longestWait: Int64 = .max
  var hasLoaded = false

  /// The marks were damaged and begun anew: nothing of them binds.
  mutating func forgetMarks() {
    begun = nil
    wait = Wait()
    markedWait = Wait()
    confirmedGeneration = 0
    leastGeneration = 0
  }

  mutating func hostDied() {
    sending = nil
    lastDelivery = nil
    unmarked = nil
    known = []
    late = []
    dropped = []
    mayBeSetAside = []
    isToLeave = []
    pausedEarly = nil
    isPausedByCommand = false
    longestWait = .max
    isReleasedEarly = false
    isTriedEarly = false
    hasLoaded = false
  }

  static func covers(_ record: MarkRecord, _ sequence: UInt64, _ part: UInt32) -> Bool {
    record.completedThrough >= sequence || (record.headSequence == sequence && record.headPartsDone >= part)
  }
}
