// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Targets in C that tests load, compiled on first use against the ABI's header alone.
package enum FixtureTarget {
  package struct CompileError: Error, CustomStringConvertible {
    package let description: String
  }

  private static let compiled = Mutex<[String: String]>([:])

  /// Path of `Tests/Fixtures/targets/<name>.c` as a shared object, built with these `-D` definitions.
  package static func compile(_ name: String, _ defines: [String] = []) throws -> String {
    try compile(source: Repository.path("Tests/Fixtures/targets/\(name).c"), as: name, defines)
  }

  package static func compile(source: String, as name: String, _ defines: [String] = []) throws -> String {
    try compiled.withLock { known in
      let key = ([source] + defines).joined(separator: " ")
      if let path = known[key] { return path }
      let path = TemporaryFolder.shared.path("\(name)-\(known.count).so")
      // The hostile one corrupts memory because it is asked to.
      let compiler = name == "hostile" ? ["cc"] : Sanitizer.compiler ?? ["cc"]
      let result = try Command.run(
        compiler + ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", "-fvisibility=hidden"]
          + ["-I", Repository.abiInclude, "-pthread"] + defines.map { "-D\($0)" } + [source, "-o", path])
      guard result.status == 0 else { throw CompileError(description: result.output) }
      known[key] = path
      return path
    }
  }
}
