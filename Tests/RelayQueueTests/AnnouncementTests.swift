// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelaySystem
import Synchronization
import Testing

@testable import RelayQueue

@Suite struct `What was committed is announced` {
  @Test func `in the order of its sequences, whoever is told first`() {
    var books = QueueBooks()
    for sequence: UInt64 in [1, 2, 3] { books.publish(sequence) }
    books.settle(2)
    #expect(books.takeReady() == [])
    books.settle(1)
    #expect(books.takeReady() == [1, 2])
    books.settle(3)
    #expect(books.takeReady() == [3])
    #expect(books.takeReady() == [])
  }

  @Test func `once each and in order by many threads at once`() throws {
    try withFolder { folder in
      let state = try StateFolder.open(folder.path)
      let pipeline = try state.pipeline("a")
      let told = Mutex<[UInt64]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        for round in 0..<10 {
          do {
            let staged = try pipeline.stage()
            // Each hand has a source of its own: one that changes while it is copied is refused.
            let source = try file("\(number)-\(round)", in: pipeline.folder, ".source-\(number)")
            try staged.addPart(name: "x", from: source)
            _ = try staged.commit()
          } catch {
            Issue.record(error)
          }
          // Taking and noting in one step, as the engine does on its thread.
          told.withLock { $0 += pipeline.takeReady() }
        }
      }
      let all = told.withLock { $0 }
      #expect(all == Array(1...80))
    }
  }
}
