// SPDX-License-Identifier: Apache-2.0

/// Promises of marks and manifests that can be broken on purpose, to prove that the simulation notices (`make simulate-broken`).
///
/// Only in a build that is made for it: in every other one nothing of this is left.
enum BrokenQueue: String {
  /// The newest record's slot is never written.
  case markSlot
  /// A torn record isn't taken for one.
  case markChecksum
  /// What was found is written again in place first.
  case markConfirm
  /// Every member comes back as it was written.
  case markFields
  /// A retry has the same identities.
  case sameIdentity

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
