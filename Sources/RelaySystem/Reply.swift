// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Where a thread waits for a value that another one hands over, once.
package final class Reply<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let done = DispatchSemaphore(value: 0)

  package init() {}

  package func set(_ newValue: Value) {
    value.withLock { $0 = newValue }
    done.signal()
  }

  package func wait() -> Value {
    while true {
      done.wait()
      if let value = value.withLock({ $0 }) { return value }
    }
  }
}
