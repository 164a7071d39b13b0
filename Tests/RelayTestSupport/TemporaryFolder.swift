// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder for one test run's files, removed when the test process ends.
package struct TemporaryFolder: Sendable {
  package let root: String

  /// One for the whole process.
  package static let shared: TemporaryFolder = {
    let folder = TemporaryFolder()
    atexit { _ = try? Command.run(["rm", "-rf", "--", TemporaryFolder.shared.root]) }
    return folder
  }()

  private init() {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/relay-test-XXXXXX".utf8CString)
    root = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
  }

  package func path(_ name: String) -> String { "\(root)/\(name)" }
}
