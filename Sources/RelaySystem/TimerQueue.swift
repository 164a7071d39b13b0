// SPDX-License-Identifier: Apache-2.0

/// Names a timer of an event loop, so that it can be moved or taken away.
package struct TimerKey: Hashable, Sendable {
  package var owner: String
  package var purpose: String

  package init(_ owner: String, _ purpose: String) {
    self.owner = owner
    self.purpose = purpose
  }
}

/// Moments and what to do at them: a binary heap in which a moved or removed timer stays as a stale entry until it surfaces.
struct TimerQueue: Sendable {
  private struct Entry: Sendable {
    var moment: BootTime
    var key: TimerKey
    var version: UInt64
  }

  private var heap: [Entry] = []
  private var live: [TimerKey: (version: UInt64, handler: @Sendable () -> Void)] = [:]
  private var lastVersion: UInt64 = 0

  mutating func set(_ key: TimerKey, at moment: BootTime?, _ handler: @escaping @Sendable () -> Void) {
    guard let moment else {
      live[key] = nil
      return
    }
    lastVersion += 1
    live[key] = (lastVersion, handler)
    heap.append(Entry(moment: moment, key: key, version: lastVersion))
    siftUp(from: heap.count - 1)
    // Timers that are moved often must not pile up.
    if heap.count > 64 && heap.count > 4 * live.count { rebuild() }
  }

  /// The earliest moment that still counts.
  var next: BootTime? {
    mutating get {
      while let first = heap.first, live[first.key]?.version != first.version { removeFirst() }
      return heap.first?.moment
    }
  }

  /// The handlers whose moment has come, each once, in order.
  mutating func takeDue(at now: BootTime) -> [@Sendable () -> Void] {
    var due: [@Sendable () -> Void] = []
    while let moment = next, moment <= now, let first = heap.first {
      removeFirst()
      if let timer = live.removeValue(forKey: first.key) { due.append(timer.handler) }
    }
    return due
  }

  private mutating func rebuild() {
    heap = heap.filter { live[$0.key]?.version == $0.version }.sorted { $0.moment < $1.moment }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var place = 0
    while true {
      let left = 2 * place + 1
      guard left < heap.count else { return }
      let smaller = left + 1 < heap.count && heap[left + 1].moment < heap[left].moment ? left + 1 : left
      guard heap[smaller].moment < heap[place].moment else { return }
      heap.swapAt(place, smaller)
      place = smaller
    }
  }

  private mutating func siftUp(from start: Int) {
    var place = start
    while place > 0 {
      let parent = (place - 1) / 2
      guard heap[place].moment < heap[parent].moment else { return }
      heap.swapAt(place, parent)
      place = parent
    }
  }
}
