// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Synchronization

/// Work that blocks on the disk, one piece at a time and in order, on threads that many share.
final class SerialWork: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var isRunning = false
  }
  private let state = Mutex(State())
  private let threads: WorkThreads

  init(on threads: WorkThreads) { self.threads = threads }

  func run(_ work: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.waiting.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { threads.run { self.next() } }
  }

  private func next() {
    let work = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    work?()
    let goesOn = state.withLock { state in
      state.isRunning = !state.waiting.isEmpty
      return state.isRunning
    }
    // Others get their turn in between.
    if goesOn { threads.run { self.next() } }
  }
}
