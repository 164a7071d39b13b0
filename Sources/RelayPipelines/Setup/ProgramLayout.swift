// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayDelivery
import RelaySystem

/// Where the program's own files lie, found from where the executable is.
package struct ProgramLayout: Equatable, Sendable {
  package var worker: String
  /// The targets that come with the program.
  package var targets: String
  /// The Swift runtime that those need; nil where the linker finds it by itself.
  package var runtime: String?

  /// Installed, `bin/relay-host` has its helpers under `libexec` and `lib` beside `bin`; fresh from the compiler, all
  /// lie in one folder.
  package init(executable: String) {
    let folder = Self.parent(of: executable)
    let root = Self.parent(of: folder)
    if access("\(root)/libexec/relay-host/relay-worker", X_OK) == 0 {
      worker = "\(root)/libexec/relay-host/relay-worker"
      targets = "\(root)/lib/relay-host/targets"
      runtime = "\(root)/lib/relay-host/swift"
    } else {
      worker = "\(folder)/relay-worker"
      targets = folder
    }
  }

  /// Of this process.
  package static func ofProcess() -> ProgramLayout {
    var room = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/self/exe", &room, room.count)
    let path = String(decoding: room.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return ProgramLayout(executable: path)
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  package var launcher: WorkerLauncher { WorkerLauncher(program: worker, runtimeFolder: runtime) }
}
