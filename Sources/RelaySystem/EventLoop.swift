// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc
import Synchronization

/// One thread that waits for descriptors and moments and runs what belongs to it, one thing at a time.
///
/// An actor whose executor is this loop has all of its state on that one thread; descriptor and timer handlers run
/// there too, so they may use `assumeIsolated`. Nothing that blocks belongs on it.
package final class EventLoop: SerialExecutor {
  /// What a descriptor is ready for.
  package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: 0x001)
    package static let writable = Readiness(rawValue: 0x004)
    package static let failed = Readiness(rawValue: 0x008)
    package static let hungUp = Readiness(rawValue: 0x010)
  }

  private struct Watch {
    var descriptor: Descriptor
    var handler: @Sendable (Readiness) -> Void
  }

  private struct State {
    var jobs: [UnownedJob] = []
    var work: [@Sendable () -> Void] = []
    var watches: [UInt64: Watch] = [:]
    var tokens: [Int32: UInt64] = [:]
    var lastToken: UInt64 = 1
    var timers = TimerQueue()
    var isStopped = false
    var isAwake = false
  }

  private let state = Mutex(State())
  private let epoll: Descriptor
  private let alarm: Descriptor
  private let thread = Atomic<UInt>(0)

  /// The longest the loop sleeps, so that no missed wake-up can last: 30 s.
  private static let longestSleep: Int64 = 30_000

  package init() throws(SystemError) {
    let epollNumber = try invoke(.poll, on: "") { Int(relay_epoll_create()) }
    epoll = Descriptor(owning: Int32(epollNumber), path: "(epoll)")
    let alarmNumber = try invoke(.event, on: "") { Int(relay_eventfd()) }
    alarm = Descriptor(owning: Int32(alarmNumber), path: "(event)")
    try invoke(.poll, on: "") { Int(relay_epoll_set(epoll.number, alarm.number, 1, 0, 1)) }
  }

  // MARK: The executor of actors that live here

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      defer { state.isAwake = true }
      return !state.isAwake
    }
    if isFirst { wake() }
  }

  package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

  package func checkIsolated() {
    precondition(isCurrent, "called from outside of the event loop's thread")
  }

  /// Whether the caller runs on the loop's thread.
  package var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `work` on the loop's thread, soon.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      state.work.append(work)
      defer { state.isAwake = true }
      return !state.isAwake
    }
    if isFirst { wake() }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = Glibc.write(alarm.number, &one, 8)
  }

  // MARK: Descriptors

  /// Calls `handler` on the loop's thread whenever the descriptor is ready; level-triggered.
  package func watch(
    _ descriptor: Descriptor, for readiness: Readiness, _ handler: @escaping @Sendable (Readiness) -> Void
  ) throws(SystemError) {
    let token = state.withLock { state in
      state.lastToken += 1
      state.watches[state.lastToken] = Watch(descriptor: descriptor, handler: handler)
      state.tokens[descriptor.number] = state.lastToken
      return state.lastToken
    }
    do {
      try invoke(.poll, on: descriptor.path) {
        Int(relay_epoll_set(epoll.number, descriptor.number, readiness.rawValue, token, 1))
      }
    } catch {
      forget(descriptor)
      throw error
    }
  }

  /// Waits for something else on a descriptor that is watched already.
  package func rewatch(_ descriptor: Descriptor, for readiness: Readiness) throws(SystemError) {
    guard let token = state.withLock({ $0.tokens[descriptor.number] }) else { return }
    try invoke(.poll, on: descriptor.path) {
      Int(relay_epoll_set(epoll.number, descriptor.number, readiness.rawValue, token, 0))
    }
  }

  /// Stops watching; the handler is not called again.
  package func forget(_ descriptor: Descriptor) {
    let wasWatched = state.withLock { state in
      guard let token = state.tokens.removeValue(forKey: descriptor.number) else { return false }
      state.watches[token] = nil
      return true
    }
    if wasWatched { _ = relay_epoll_remove(epoll.number, descriptor.number) }
  }

  // MARK: Timers

  /// Calls `handler` on the loop's thread at a moment; setting the same key again replaces it, nil takes it away.
  package func setTimer(_ key: TimerKey, at moment: BootTime?, _ handler: @escaping @Sendable () -> Void = {}) {
    let wasAwake = state.withLock { state in
      state.timers.set(key, at: moment, handler)
      defer { state.isAwake = true }
      return state.isAwake
    }
    if !wasAwake { wake() }
  }

  // MARK: Running

  /// Runs the loop on the calling thread until `stop` is called.
  package func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    var tokens = [UInt64](repeating: 0, count: 64)
    var events = [UInt32](repeating: 0, count: 64)
    while !state.withLock({ $0.isStopped }) {
      let count = Int(relay_epoll_wait(epoll.number, &tokens, &events, 64, pause()))
      if count < 0 && errno != EINTR { return }
      for index in 0..<max(0, count) {
        if tokens[index] == 0 {
          var ignored: UInt64 = 0
          _ = Glibc.read(alarm.number, &ignored, 8)
        } else if let watch = state.withLock({ $0.watches[tokens[index]] }) {
          watch.handler(Readiness(rawValue: events[index]))
        }
      }
      runPosted()
    }
  }

  package func stop() {
    state.withLock { $0.isStopped = true }
    wake()
  }

  /// How long the loop may sleep, in milliseconds, rounded up so that it never spins just before a moment.
  private func pause() -> Int32 {
    state.withLock { state in
      guard state.work.isEmpty && state.jobs.isEmpty else { return 0 }
      state.isAwake = false
      guard let next = state.timers.next else { return Int32(Self.longestSleep) }
      let wait = next.milliseconds(since: .now)
      return Int32(max(0, min(Self.longestSleep, wait < 0 ? 0 : wait + 1)))
    }
  }

  private func runPosted() {
    let (jobs, work, due) = state.withLock { state in
      state.isAwake = true
      let found = (state.jobs, state.work, state.timers.takeDue(at: .now))
      state.jobs = []
      state.work = []
      return found
    }
    for item in work { item() }
    for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    for handler in due { handler() }
  }
}
