// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelayQueue
import RelaySystem
import Synchronization
import Testing

@Suite struct `Many at once` {
  /// Runs work on threads of its own and waits for all.
  private func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) throws -> Void) throws -> [String] {
    let problems = Collected<String>()
    let done = DispatchSemaphore(value: 0)
    for number in 0..<count {
      try startThread("test-\(number)") {
        do { try work(number) } catch { problems.add("\(error)") }
        done.signal()
      }
    }
    for _ in 0..<count { done.wait() }
    return problems.all
  }

  private final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
  }

  @Test func `writers of one queue get a sequence each, while recovery and counting run`() throws {
    try withPipeline { pipeline in
      let source = try file("content", in: pipeline.folder)
      let given = Collected<UInt64>()
      let problems = try onThreads(14) { number in
        for _ in 0..<10 {
          switch number {
          case 0:
            let recovery = try pipeline.recover()
            if !recovery.problems.isEmpty { throw StateError.badPipelineID("\(recovery.problems)") }
          case 1: try pipeline.measure()
          default:
            let staged = try pipeline.stage()
            try staged.addPart(name: "x", from: source)
            given.add(try staged.commit().sequence)
          }
        }
      }
      #expect(problems == [])
      #expect(given.all.sorted() == (1...120).map { UInt64($0) })
      #expect(try pipeline.recover() == Recovery(sequences: (1...120).map { UInt64($0) }))
      #expect(try pipeline.measure() == QueueTotals(artifacts: 120, parts: 120, bytes: 840, isMeasured: true))
      for sequence: UInt64 in 1...120 { #expect(damage(of: pipeline, sequence) == nil) }
      // All are removed and set aside side by side.
      let removal = try onThreads(4) { number in
        for sequence: UInt64 in 1...120 where sequence % 4 == UInt64(number) {
          if number == 0 {
            try pipeline.setAside(sequence, reason: SetAsideReason(verdict: "refused", message: ""))
          } else {
            try pipeline.remove(sequence)
          }
        }
      }
      #expect(removal == [])
      #expect(pipeline.totals == QueueTotals(isMeasured: true))
      #expect(try pipeline.queue.names() == [])
      #expect(try pipeline.refused().count == 30)
    }
  }
}
