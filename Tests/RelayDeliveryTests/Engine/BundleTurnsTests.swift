// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelaySystem
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayDelivery

@Suite struct `Turns in making bundles` {
  /// Work that begins, waits to be let go, and ends.
  private final class Works: Sendable {
    let begun = Mutex<[String]>([])
    let ended = Mutex<[String]>([])
    private let gate = DispatchSemaphore(value: 0)

    func work(_ name: String, _ bundling: Bundling, holds: Bool = true) -> @Sendable () -> Void {
      {
        self.begun.withLock { $0.append(name) }
        if holds && bundling.goesOn { self.gate.wait() }
        self.ended.withLock { $0.append(name) }
      }
    }

    func letGo(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }
    var names: [String] { begun.withLock { $0 } }
    var done: [String] { ended.withLock { $0 } }
  }

  private let turns: BundleTurns
  private let works = Works()

  init() throws { turns = BundleTurns(limit: 2, spare: try WorkThreads("spare", count: 1)) }

  @discardableResult
  private func begin(_ name: String, bytes: Int64 = BundleTurns.large, holds: Bool = true) -> Bundling {
    let bundling = Bundling()
    turns.run(bundling, bytes: bytes, works.work(name, bundling, holds: holds))
    return bundling
  }

  @Test func `only as many are made at once as may be, the others after them in order`() {
    for name in ["1", "2", "3", "4"] { begin(name) }
    #expect(eventually { works.names.count == 2 })
    works.letGo()
    #expect(eventually { works.names.count == 3 })
    #expect(works.done.count == 1 && works.names.last == "3")
    works.letGo(3)
    #expect(eventually { works.done.count == 4 })
    #expect(works.names.last == "4")
    // The turns are free again.
    begin("5", holds: false)
    #expect(eventually { works.done.last == "5" })
  }

  @Test func `small ones don't wait for large ones`() {
    for name in ["1", "2", "3"] { begin(name) }
    begin("small", bytes: BundleTurns.large - 1, holds: false)
    #expect(eventually { works.done == ["small"] })
    works.letGo(3)
    #expect(eventually { works.done.count == 4 })
  }

  @Test func `one that is stopped while it waits ends at once`() {
    for name in ["1", "2"] { begin(name) }
    #expect(eventually { works.names.count == 2 })
    let waiting = begin("3")
    begin("4")
    waiting.stop()
    turns.giveUp(waiting)
    #expect(eventually { works.done == ["3"] })
    // One that was stopped before it came, too; and it leaves no turn more behind.
    let stopped = Bundling()
    stopped.stop()
    turns.run(stopped, bytes: .max, works.work("5", stopped))
    #expect(eventually { works.done == ["3", "5"] })
    #expect(!works.names.contains("4"))
    works.letGo(3)
    #expect(eventually { works.done.count == 5 })
  }
}
