// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Dispatch
import Glibc
import Synchronization

/// Starts a thread of its own for work that blocks; the thread ends with the work.
///
/// - Throws: EAGAIN when the machine has no room for another thread.
package func startThread(_ name: String, _ work: @escaping @Sendable () -> Void) throws(SystemError) {
  let box = Unmanaged.passRetained(ThreadBody(work))
  let code = relay_start_thread(
    name,
    { raw in
      guard let raw else { return }
      Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue().work()
    }, box.toOpaque())
  if code != 0 {
    box.release()
    throw SystemError(call: .spawn, code: code, subject: "thread \(name)")
  }
}

/// What a thread runs, carried through the C border.
private final class ThreadBody: Sendable {
  let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// A fixed number of threads that take work which may block on the disk, in the order given.
package final class WorkThreads: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var first = 0
    var isClosed = false
  }
  private let state = Mutex(State())
  private let arrivals = DispatchSemaphore(value: 0)
  private let count: Int

  /// - Throws: EAGAIN when no thread can be started.
  package init(_ name: String, count: Int) throws(SystemError) {
    self.count = count
    for number in 1...max(1, count) {
      try startThread("\(name)-\(number)") { [weak self, arrivals] in
        while true {
          arrivals.wait()
          guard let work = self?.next() else { return }
          work()
        }
      }
    }
  }

  deinit { for _ in 0..<count { arrivals.signal() } }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.first < state.waiting.count else { return nil }
      let work = state.waiting[state.first]
      state.first += 1
      if state.first > 64 && state.first * 2 > state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return work
    }
  }

  package func run(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.waiting.append(work) }
    arrivals.signal()
  }
}
