// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A started program with its standard input and output; it ends when this value goes.
package final class Child: Sendable {
  package let pid: pid_t
  private let input: Int32
  private let output: Int32

  /// One start at a time, so that no child inherits what belongs to another.
  private static let starting = Mutex(())

  package init(_ arguments: [String]) throws {
    let started = Self.starting.withLock { _ in Self.start(arguments) }
    guard let started else { throw NotStarted(program: arguments.first ?? "") }
    (pid, input, output) = started
  }

  private static func start(_ arguments: [String]) -> (pid_t, Int32, Int32)? {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { return nil }
    for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    // The threads that tests run on block signals; a child that inherits that can't be asked to end.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = arguments.map { strdup($0) } + [nil]
    var child: pid_t = 0
    let code = posix_spawnp(&child, arguments[0], &actions, &attributes, &words, environ)
    for word in words { free(word) }
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    close(toChild[0])
    close(fromChild[1])
    return code == 0 ? (child, toChild[1], fromChild[0]) : nil
  }

  deinit {
    close(input)
    close(output)
    kill(pid, SIGTERM)
    waitpid(pid, nil, 0)
  }

  package func line() -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes a line to its standard input.
  package func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      done += count
    }
  }

  /// Writes a line to its standard input and waits for one in return.
  package func ask(_ line: String) -> String {
    say(line)
    return self.line()
  }

  package struct NotStarted: Error { let program: String }

  /// Waits for the end; the output and the exit status.
  package static func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let child = try Child(arguments)
    var text = ""
    while case let line = child.line(), !line.isEmpty { text += line + "\n" }
    var status: Int32 = 0
    waitpid(child.pid, &status, 0)
    return (text, status)
  }
}
