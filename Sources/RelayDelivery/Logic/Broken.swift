// SPDX-License-Identifier: Apache-2.0
#if RELAY_BROKEN
  import RelayQueue
#endif

/// Promises of the machine that can be broken on purpose, to prove that the simulation notices (`make simulate-broken`).
///
/// Only in a build that is made for it: in every other one nothing of this is left.
enum Broken: String {
  /// Artifacts leave in order.
  case order
  /// One in flight per pipeline.
  case oneInFlight
  /// What was accepted is durable before the next thing is sent.
  case markBeforeNext
  /// A sync that failed is never trusted.
  case syncTrust
  /// What was found at the start is on the disk before the next thing is sent.
  case marksAnew
  /// A wait goes on over a restart.
  case waitSurvives
  /// A clock that stepped can't stretch a wait.
  case clockClamp
  /// What is to be tried again stays.
  case retryKeeps
  /// What was refused is set aside, not deleted.
  case refusedKeeps
  /// What was refused isn't sent again.
  case refusedLeaves
  /// Needs attention outlasts a restart.
  case attentionHolds
  /// Try now never overrides needs attention.
  case tryNowHolds
  /// Every wait has its timer.
  case lostWakeup
  /// What couldn't be read is tried again.
  case readWakeup
  /// A second between deliveries.
  case spacing
  /// The spacing stays, whatever ends a wait.
  case spacingStays
  /// Waits double.
  case backoffGrows
  /// A success resets the backoff.
  case backoffResets
  /// The receiver's wish is kept.
  case receiverWish
  /// The receiver's wish counts up to a day.
  case receiverClamp
  /// An unsure end waits ten minutes.
  case unsureWaits
  /// An unsure end is held where a person wants that.
  case unsureHolds
  /// Such an end is one, too, when the host died in the middle.
  case beginningHolds
  /// Ten misbehaviours in a row need attention.
  case misbehaviourStops
  /// Five misbehaviours on one part set its artifact aside.
  case poisonLeaves
  /// What was cancelled counts as no attempt.
  case cancelledIsNone
  /// A cancellation that nobody asked for is a misbehaviour.
  case unaskedCancel
  /// A verdict for something else changes nothing.
  case oldVerdict
  /// What was dropped isn't sent.
  case dropHolds
  /// What is paused sends nothing.
  case pauseHolds
  /// A pause outlasts a restart.
  case pauseSurvives
  /// Without a target nothing is sent.
  case targetHolds
  /// While stopping nothing is begun.
  case stopHolds
  /// A place that isn't needed is given back.
  case placeReturns
  /// An artifact is removed after the mark that says so.
  case removeAfterMark
  /// No part is skipped.
  case partsInOrder
  /// What comes to light late is put at the end.
  case lateLast
  /// A move that failed isn't done.
  case moveDone
  /// Damage doesn't end the wait for the receiver.
  case damageWaits
  /// What can't be read doesn't cut a wait short.
  case unreadableWaits
  /// Removals that are outstanding are bounded.
  case removalsBounded

  /// Whether this promise is the one that is to be broken.
  @inline(__always) static func promise(_ promise: Self) -> Bool {
    #if RELAY_BROKEN
      promise == chosen
    #else
      false
    #endif
  }

  #if RELAY_BROKEN
    private static let chosen = BrokenPromise.name.flatMap(Self.init)
  #endif
}
