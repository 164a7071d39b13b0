// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport

/// A copy of the program, installed in a folder of its own, whose workers obey a `FaultControl`.
package final class DoctoredProgram: Sendable {
  /// Its `relay-host`.
  package let program: String
  private let root: String

  /// - Parameters:
  ///   - program: The `relay-host` to be copied, installed or fresh from the compiler.
  ///   - faults: What its workers obey.
  package init(of program: String, workersObey faults: FaultControl) throws {
    root = TemporaryFolder.shared.path("doctored-\(Identifier.random())")
    self.program = root + "/bin/relay-host"
    let folder = Self.parent(program)
    let installed = Self.parent(folder)
    let isInstalled = File.exists("\(installed)/libexec/relay-host/relay-worker")
    let libexec = root + "/libexec/relay-host"
    for inner in ["bin", "libexec/relay-host", "lib/relay-host"] { _ = try Directory.ensure("\(root)/\(inner)") }
    let worker = isInstalled ? "\(installed)/libexec/relay-host/relay-worker" : "\(folder)/relay-worker"
    try Self.run("cp", program, self.program)
    try Self.run("cp", worker, "\(libexec)/relay-worker.real")
    try Self.run("cp", try Self.door(), "\(libexec)/relay-worker")
    try Self.link(try FaultControl.shim(), "\(libexec)/fault-shim.so")
    try Self.link(faults.path, "\(libexec)/faults")
    try Self.link(isInstalled ? "\(installed)/lib/relay-host/targets" : folder, "\(root)/lib/relay-host/targets")
    if isInstalled { try Self.link("\(installed)/lib/relay-host/swift", "\(root)/lib/relay-host/swift") }
  }

  deinit { _ = try? Command.run(["rm", "-rf", "--", root]) }

  private static func parent(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  private static func run(_ words: String...) throws {
    let result = try Command.run(words)
    guard result.status == 0 else { throw ScenarioProblem(result.output) }
  }

  private static func link(_ target: String, _ name: String) throws {
    guard symlink(target, name) == 0 else { throw CallError("symlink \(name)") }
  }

  /// Compiled at its first use.
  private static func door() throws -> String {
    let path = TemporaryFolder.shared.path("worker-door")
    if !File.exists(path) {
      let source = Repository.path("Tests/Proof/Shim/worker_door.c")
      try run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", source, "-o", "\(path).\(getpid())")
      guard rename("\(path).\(getpid())", path) == 0 else { throw CallError("rename") }
    }
    return path
  }
}
