// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Synchronization

/// Hints which inbox to look at. Every inbox is looked at regularly all the same, since hints can be lost.
package final class InboxWatch: Sendable {
  package enum Hint: Equatable, Sendable {
    case pipelines(Set<String>)
    /// Events were lost: anything may have happened.
    case all
  }

  private struct State {
    /// Several pipelines may have inboxes in one folder.
    var pipelines: [Int32: Set<String>] = [:]
    /// The folder of each pipeline: a look at one inbox must not cost more the more there are.
    var numbers: [String: Int32] = [:]

    mutating func remove(_ pipeline: String) {
      guard let number = numbers.removeValue(forKey: pipeline) else { return }
      pipelines[number]?.remove(pipeline)
    }
  }

  private let watch: FolderWatch
  private let state = Mutex(State())

  /// Readable when there is a hint.
  package var descriptor: Descriptor { watch.descriptor }

  package init() throws(SystemError) { watch = try FolderWatch() }

  /// Watches a pipeline's inbox. To be called again with each regular look: a folder may be made, mounted or replaced
  /// meanwhile; for one that is watched already this changes nothing.
  ///
  /// - Returns: false when the folder can't be watched now, so that only the regular look finds its files.
  @discardableResult
  package func add(_ folder: String, for pipeline: String) -> Bool {
    state.withLock { state in
      guard let number = try? watch.add(folder) else { return false }
      if state.numbers[pipeline] != number { state.remove(pipeline) }
      state.numbers[pipeline] = number
      state.pipelines[number, default: []].insert(pipeline)
      return true
    }
  }

  package func remove(_ pipeline: String) { state.withLock { $0.remove(pipeline) } }

  /// What happened since the last call; doesn't wait.
  package func takeHint() -> Hint {
    let events = watch.takeEvents()
    if events.contains(-1) { return .all }
    return state.withLock { state in
      .pipelines(events.reduce(into: []) { $0.formUnion(state.pipelines[$1] ?? []) })
    }
  }
}

/// When to look at one inbox next.
package struct InboxSchedule: Equatable, Sendable {
  /// In milliseconds: without any hint.
  package static let regular: Int64 = 30_000
  /// In milliseconds: between a hint and the look, so that a burst of events makes one look.
  package static let gather: Int64 = 100

  package private(set) var due: BootTime

  /// The first look is at once.
  package init(now: BootTime) { due = now }

  package mutating func hinted(now: BootTime) { due = min(due, now.advanced(milliseconds: Self.gather)) }

  package mutating func looked(_ result: LookResult, now: BootTime) {
    due = now.advanced(milliseconds: min(result.lookAgain ?? Self.regular, Self.regular))
  }
}
