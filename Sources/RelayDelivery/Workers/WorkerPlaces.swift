// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Who may have a worker: a limited number of places, given to whoever has been due longest.
///
/// A place is taken as long as a worker process lives. A worker that has nothing to do gives way when places are short.
package struct WorkerPlaces: Sendable {
  package enum Decision: Equatable, Sendable {
    /// The pipeline may send now.
    case grant(String)
    /// This idle worker is to go; its place is given on when it has ended.
    case dismiss(String)
  }

  private var limit: Int
  /// Pipelines with a live worker, and since when it is idle.
  private var taken: [String: BootTime?] = [:]
  private var leaving: Set<String> = []
  private var waiting: [(pipeline: String, since: BootTime)] = []

  package init(limit: Int) { self.limit = max(1, limit) }

  package var count: Int { taken.count }

  package mutating func setLimit(_ new: Int) -> [Decision] {
    limit = max(1, new)
    return assign()
  }

  package mutating func request(_ pipeline: String, since: BootTime) -> [Decision] {
    if taken[pipeline] != nil && !leaving.contains(pipeline) {
      taken[pipeline] = .some(nil)
      return [.grant(pipeline)]
    }
    if !waiting.contains(where: { $0.pipeline == pipeline }) { waiting.append((pipeline, since)) }
    return assign()
  }

  /// The pipeline no longer wants to send; its worker, if it has one, is idle.
  package mutating func release(_ pipeline: String, now: BootTime) -> [Decision] {
    waiting.removeAll { $0.pipeline == pipeline }
    if taken[pipeline] != nil { taken[pipeline] = .some(now) }
    return assign()
  }

  /// The worker has ended, or none was started.
  package mutating func ended(_ pipeline: String) -> [Decision] {
    taken[pipeline] = nil
    leaving.remove(pipeline)
    return assign()
  }

  /// Workers that have been idle since before a moment.
  package func idle(before moment: BootTime) -> [String] {
    taken.compactMap { pipeline, since in
      guard let since, since <= moment, !leaving.contains(pipeline) else { return nil }
      return pipeline
    }
  }

  package mutating func markLeaving(_ pipeline: String) {
    if taken[pipeline] != nil { leaving.insert(pipeline) }
  }

  private mutating func assign() -> [Decision] {
    var decisions: [Decision] = []
    waiting.sort { $0.since < $1.since }
    var place = 0
    while place < waiting.count {
      let next = waiting[place].pipeline
      // Its former worker is still on the way out: two at a time would be two deliveries of one pipeline.
      if taken[next] != nil {
        place += 1
        continue
      }
      guard taken.count < limit else { break }
      taken[next] = .some(nil)
      waiting.remove(at: place)
      decisions.append(.grant(next))
    }
    let short = waiting.count { taken[$0.pipeline] == nil } - leaving.count
    if taken.count >= limit && short > 0 {
      let idle = taken.compactMap { pipeline, since in
        since.map { (pipeline, $0) }
      }.filter { !leaving.contains($0.0) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
      for (pipeline, _) in idle.prefix(short) {
        leaving.insert(pipeline)
        decisions.append(.dismiss(pipeline))
      }
    }
    return decisions
  }
}
