// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// The making of a bundle, which takes as long as compressing does, so that it can be ended before that.
final class Bundling: Sendable {
  private let isStopped = Atomic<Bool>(false)

  var goesOn: Bool { !isStopped.load(ordering: .acquiring) }

  func stop() { isStopped.store(true, ordering: .releasing) }
}

/// The threads in which bundles are made: no more at once than there are processors to compress with, whatever the number of
/// pipelines, because each holds two threads, a few files and some megabytes. The rest wait for their turn.
///
/// Small ones have turns of their own, so that two pictures for a mail don't wait for hours of video.
final class BundleTurns: Sendable {
  /// From so many bytes of parts on a bundle is large; less is compressed within a second.
  static let large: Int64 = 16 << 20

  private struct Lane {
    var running = 0
    var waiting: [(bundling: Bundling, work: @Sendable () -> Void)] = []
  }

  /// How many may run at once, of the small ones and of the large ones.
  private let limit: Int
  private let small = Mutex(Lane())
  private let large = Mutex(Lane())
  /// For what no thread can be started for.
  private let spare: WorkThreads

  init(limit: Int = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))), spare: WorkThreads) {
    self.limit = limit
    self.spare = spare
  }

  /// Runs `work` in a thread, when its turn has come.
  ///
  /// - Parameter bytes: how much there is to compress.
  func run(_ bundling: Bundling, bytes: Int64, _ work: @escaping @Sendable () -> Void) {
    let isLarge = bytes >= Self.large
    let starts = lane(isLarge) { lane in
      // Stopped before it could be told.
      guard lane.running < limit || !bundling.goesOn else {
        lane.waiting.append((bundling, work))
        return false
      }
      lane.running += 1
      return true
    }
    guard starts else { return }
    let all: @Sendable () -> Void = {
      work()
      while let next = self.next(isLarge) { next() }
    }
    do { try startThread("bundle", all) } catch { spare.run(all) }
  }

  /// Lets what was stopped while it waited end at once.
  func giveUp(_ bundling: Bundling) {
    for isLarge in [false, true] {
      let work = lane(isLarge) { lane in
        lane.waiting.firstIndex { $0.bundling === bundling }.map { lane.waiting.remove(at: $0).work }
      }
      if let work { spare.run(work) }
    }
  }

  private func next(_ isLarge: Bool) -> (@Sendable () -> Void)? {
    lane(isLarge) { lane in
      if lane.waiting.isEmpty || lane.running > limit {
        lane.running -= 1
        return nil
      }
      return lane.waiting.removeFirst().work
    }
  }

  private func lane<T: Sendable>(_ isLarge: Bool, _ body: (inout Lane) -> T) -> T {
    isLarge ? large.withLock { body(&$0) } : small.withLock { body(&$0) }
  }
}
