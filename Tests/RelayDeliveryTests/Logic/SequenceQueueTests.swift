// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayDelivery

@Suite struct `Sequence queue` {
  @Test func `numbers come out in order whatever order they came in, each once`() {
    var queue = SequenceQueue([5])
    for number: UInt64 in [9, 7, 5, 6, 9, 8] { queue.insert(number) }
    var seen: [UInt64] = []
    while let first = queue.first {
      seen.append(first)
      queue.remove(first)
    }
    #expect(seen == [5, 6, 7, 8, 9])
  }

  @Test func `a hundred thousand numbers go in and out, and any can be taken from the middle`() {
    var queue = SequenceQueue(Array(1...100_000))
    queue.remove(50_000)
    #expect(!queue.contains(50_000) && queue.contains(50_001) && queue.count == 99_999)
    for number in 1...99_990 { queue.remove(UInt64(number)) }
    #expect(queue.first == 99_991)
    queue.insert(3)
    #expect(queue.first == 3)
  }
}
