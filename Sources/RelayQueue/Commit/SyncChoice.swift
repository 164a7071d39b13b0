// SPDX-License-Identifier: Apache-2.0

/// Decides between syncing file by file and syncing the whole file system, from what each cost lately.
///
/// Syncing all writes out what others have left unsaved as well, so it can be slow for reasons that aren't ours.
package struct SyncChoice: Sendable {
  /// From so many files and folders on that wait for their sync, one for all can win.
  package static let leastWaiting = 8
  /// After being found slow, the whole sync is tried again after so many batches.
  package static let retryAfter = 32

  /// Nanoseconds, averaged with more weight on the latest; nil before the first.
  private var costOfOne: Double?
  private var costOfAll: Double?
  private var passed = 0

  package init() {}

  package mutating func wantsAll(_ waiting: Int) -> Bool {
    guard waiting >= Self.leastWaiting else { return false }
    guard let costOfOne, let costOfAll, costOfAll > costOfOne * Double(waiting) else { return true }
    passed += 1
    guard passed >= Self.retryAfter else { return false }
    passed = 0
    return true
  }

  package mutating func tookSingle(_ nanoseconds: Int64, syncs: Int) {
    guard syncs > 0 else { return }
    costOfOne = Self.average(costOfOne, Double(nanoseconds) / Double(syncs))
  }

  package mutating func tookAll(_ nanoseconds: Int64) { costOfAll = Self.average(costOfAll, Double(nanoseconds)) }

  private static func average(_ old: Double?, _ new: Double) -> Double {
    guard let old else { return new }
    return old * 0.75 + new * 0.25
  }
}
