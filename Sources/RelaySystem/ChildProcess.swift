// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// How a child process ended.
package enum ProcessEnd: Equatable, Sendable {
  case exited(Int32)
  case killed(signal: Int32)
}

/// A child process, leader of a process group of its own.
///
/// Its end is seen through a descriptor that becomes readable. A child that asks the kernel to die with its parent
/// dies with the *thread* that started it: start children from a thread that lives as long as they may.
package final class ChildProcess: Sendable {
  package let pid: pid_t
  /// Becomes readable when the process has ended.
  package let exitDescriptor: Descriptor

  /// What a child is started with.
  package struct Launch: Sendable {
    /// Absolute.
    package var program: String
    package var arguments: [String]
    package var environment: [String: String]
    /// Descriptor i of the child is a copy of the ith; all others are closed in it.
    package var descriptors: [Descriptor]
    package var folder: String?

    package init(
      program: String, arguments: [String] = [], environment: [String: String] = [:], descriptors: [Descriptor],
      folder: String? = nil
    ) {
      self.program = program
      self.arguments = arguments
      self.environment = environment
      self.descriptors = descriptors
      self.folder = folder
    }
  }

  /// Starts a child. The corresponding C function is `posix_spawn`.
  package init(_ launch: Launch) throws(SystemError) {
    if case .fails(let code)? = FaultDoor.effect(on: .spawn, launch.program) {
      throw SystemError(call: .spawn, code: code, subject: launch.program)
    }
    let arguments = CStrings([launch.program] + launch.arguments)
    let environment = CStrings(launch.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    let numbers = launch.descriptors.map(\.number)
    var pid: pid_t = 0
    let code = numbers.withUnsafeBufferPointer { numbers in
      withOptionalCString(launch.folder) { folder in
        launch.program.withCString { program in
          var request = relay_spawn_request(
            program: program, arguments: arguments.pointers, environment: environment.pointers, folder: folder,
            descriptors: numbers.baseAddress, descriptor_count: numbers.count)
          return relay_spawn(&request, &pid)
        }
      }
    }
    if code != 0 { throw SystemError(call: .spawn, code: code, subject: launch.program) }
    self.pid = pid
    do {
      let number = try invoke(.processDescriptor, on: launch.program) { Int(relay_pidfd_open(pid)) }
      exitDescriptor = Descriptor(owning: Int32(number), path: "(process \(pid))")
    } catch {
      Glibc.kill(-pid, SIGKILL)
      var status: Int32 = 0
      waitpid(pid, &status, 0)
      throw error
    }
  }

  /// How the process ended, reaping it; nil while it runs. Ask once more only after nil.
  package func end(wait: Bool = false) -> ProcessEnd? {
    var status: Int32 = 0
    while true {
      let found = waitpid(pid, &status, wait ? 0 : WNOHANG)
      if found < 0 && errno == EINTR { continue }
      guard found == pid else { return found < 0 ? .exited(-1) : nil }
      let signal = status & 0x7F
      return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
    }
  }

  /// Sends a signal to the process and everything in its group.
  package func signalGroup(_ signal: Int32) { _ = Glibc.kill(-pid, signal) }
}

extension ProcessEnd {
  /// In words, for example "ended by SIGSEGV (it crashed)".
  package var words: String {
    let names: [Int32: String] = [
      SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGILL: "SIGILL", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
      SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP", SIGXFSZ: "SIGXFSZ", SIGXCPU: "SIGXCPU", SIGSYS: "SIGSYS",
    ]
    switch self {
    case .exited(let code): return "exited with \(code)"
    case .killed(let signal):
      let name = names[signal] ?? "signal \(signal)"
      return [SIGKILL, SIGTERM].contains(signal) ? "was ended by \(name)" : "crashed (\(name))"
    }
  }
}

/// A NULL-terminated array of C strings that lives as long as this object.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointers = .allocate(capacity: count + 1)
    for (index, text) in texts.enumerated() { (pointers + index).initialize(to: strdup(text)) }
    (pointers + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}

private func withOptionalCString<T>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> T) -> T {
  guard let text else { return body(nil) }
  return text.withCString { body($0) }
}
