// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Where the kernel tells of system calls that a confined process tries; each waits until it is answered.
///
/// Once it is closed, such calls fail with ENOSYS: it must live as long as the process.
package struct SystemCallListener: Sendable {
  /// A call that waits.
  package struct Call: Equatable, Sendable {
    package var number: Int32
    /// As this process sees it.
    package var process: Int32
    /// Six, in registers: what they point to may change any moment, they themselves don't.
    package var arguments: [UInt64]
    fileprivate var id: UInt64 = 0

    package init(number: Int32, process: Int32, arguments: [UInt64]) {
      self.number = number
      self.process = process
      self.arguments = arguments
    }

    /// An argument as the kernel takes one that is an int; 0 where there is none.
    package func int(_ index: Int) -> Int32 {
      arguments.indices.contains(index) ? Int32(truncatingIfNeeded: arguments[index]) : 0
    }
  }

  private let descriptor: Descriptor
  private let memory: Descriptor?

  /// - Parameter memory: that of the process, to be read.
  package init(_ descriptor: Descriptor, memory: Descriptor?) {
    self.descriptor = descriptor
    self.memory = memory
    relay_listen_in_turns(descriptor.number)
  }

  /// The next call, or nil when nobody is left who could make one. Waits for it.
  package func next() -> Call? {
    var found = relay_call()
    guard relay_next_call(descriptor.number, &found) == 1 else { return nil }
    let arguments = withUnsafeBytes(of: found.arguments) { Array($0.bindMemory(to: UInt64.self)) }
    var call = Call(number: found.number, process: Int32(truncatingIfNeeded: found.process), arguments: arguments)
    call.id = found.id
    return call
  }

  /// Has a call fail with EPERM.
  package func deny(_ call: Call) { relay_answer_call(descriptor.number, call.id, EPERM) }

  /// Has the kernel carry a call out.
  package func pass(_ call: Call) { relay_answer_call(descriptor.number, call.id, 0) }

  /// Waits, shorter if meanwhile nobody is left.
  package func rest(milliseconds: Int32) { relay_wait_for_callers(descriptor.number, milliseconds) }

  /// The path to which an argument of a waiting call points; nil where it can't be read. Never longer than a path may be.
  package func path(_ call: Call, argument index: Int) -> String? {
    guard let memory, call.arguments.indices.contains(index) else { return nil }
    var room = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = relay_read_text(memory.number, call.arguments[index], &room, room.count)
    return length < 0 ? nil : String(decoding: room.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
