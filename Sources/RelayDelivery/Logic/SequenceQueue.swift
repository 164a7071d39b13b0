// SPDX-License-Identifier: Apache-2.0

/// The sequence numbers of a pipeline's queued artifacts, in order: eight bytes each, whatever the backlog.
package struct SequenceQueue: Equatable, Sendable {
  private var numbers: [UInt64] = []
  private var start = 0

  package init(_ sorted: [UInt64] = []) { numbers = sorted }

  package var first: UInt64? { start < numbers.count ? numbers[start] : nil }
  package var count: Int { numbers.count - start }
  package var isEmpty: Bool { count == 0 }
  package var all: ArraySlice<UInt64> { numbers[start...] }

  /// Takes a number in; commits may be reported out of order, and one that is known already changes nothing.
  package mutating func insert(_ number: UInt64) {
    if let last = numbers.last, start < numbers.count, number <= last {
      var low = start
      var high = numbers.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[middle] < number { low = middle + 1 } else { high = middle }
      }
      if low < numbers.count && numbers[low] == number { return }
      numbers.insert(number, at: low)
    } else {
      numbers.append(number)
    }
  }

  package mutating func remove(_ number: UInt64) {
    if number == first {
      start += 1
      if start > 64 && start * 2 > numbers.count {
        numbers.removeFirst(start)
        start = 0
      }
    } else if let place = all.firstIndex(of: number) {
      numbers.remove(at: place)
    }
  }

  package func contains(_ number: UInt64) -> Bool {
    var low = start
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number
  }
}
