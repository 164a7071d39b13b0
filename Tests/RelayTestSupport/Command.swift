// SPDX-License-Identifier: Apache-2.0
import CRelayTestSupport
import Glibc

/// Runs a program to its end.
package enum Command {
  /// Exit status (negative: the signal that ended it) and what it printed on both outputs.
  package static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    var ends: [Int32] = [-1, -1]
    guard relay_test_pipe(&ends) == 0 else { throw CallError("pipe2") }
    defer { close(ends[0]) }
    let child: pid_t
    do {
      defer { close(ends[1]) }
      child = try spawn(arguments, [(ends[1], 1), (ends[1], 2)])
    }
    let output = try File.bytes(from: ends[0])
    return (wait(for: child), String(decoding: output, as: UTF8.self))
  }

  /// Starts a program found in PATH with descriptors set as (ours, its); everything else must be close-on-exec.
  package static func spawn(_ arguments: [String], _ descriptors: [(Int32, Int32)]) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (ours, its) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, its) }
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var child: pid_t = 0
    let result = posix_spawnp(&child, arguments.first ?? "", &actions, nil, &pointers, environ)
    guard result == 0 else { throw CallError("spawn \(arguments.first ?? "")", result) }
    return child
  }

  /// Waits for a child; its exit status, or minus the signal that ended it.
  package static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return meaning(of: status)
  }

  package static func meaning(of status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }
}
