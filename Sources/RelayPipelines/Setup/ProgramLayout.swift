// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
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
      let brought = "\(root)/lib/relay-host/swift"
      runtime = access(brought, F_OK) == 0 ? brought : nil
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

  /// What workers are let into, as a configuration has it. Blocking, briefly.
  ///
  /// - Parameter filter: the filters of system calls, where they were made beforehand.
  func surroundings(_ configuration: Configuration, _ filter: CallFilter = CallFilter()) -> WorkerSurroundings {
    var around = surroundings(
      state: configuration.state, configuration.confinement,
      protecting: configuration.protectedPaths(programTargets: targets))
    around.filter = filter
    return around
  }

  /// As far as it is known before the file was read whole.
  func surroundings(of file: ConfigurationFile?) -> WorkerSurroundings {
    guard let file, let places = try? file.places() else { return surroundings(state: nil, nil, protecting: .none) }
    let environment = ConfigurationEnvironment.ofProcess()
    let protected = ProtectedPaths(
      state: places.state, configurationFile: PathRules.absolute(file.path, in: environment.currentDirectory),
      targets: places.targets + [targets], credentialsDirectory: environment.credentialsDirectory)
    return surroundings(state: places.state, places.confinement, protecting: protected)
  }

  private func surroundings(
    state: String?, _ confinement: ConfinementMode?, protecting protected: ProtectedPaths
  ) -> WorkerSurroundings {
    WorkerSurroundings(
      policy: ConfinementPolicy(kernel: .ofThisMachine, configured: confinement, isRoot: geteuid() == 0),
      identity: state.flatMap { .owner(ofStateFolder: $0) }, protected: protected, runtimeFolder: runtime)
  }

  package var launcher: WorkerLauncher { WorkerLauncher(program: worker, runtimeFolder: runtime) }
}
