// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// Starts worker processes: which program, with which environment and which ends of which pipes.
package struct WorkerLauncher: Sendable {
  /// Absolute path of `relay-worker`.
  package var program: String
  /// The folder with the Swift runtime that the shipped targets need; nil where there is none.
  package var runtimeFolder: String?
  /// What may be passed on of the host's own environment: where certificates and time zones are, and the language.
  package static let passedOn = ["TZ", "TZDIR", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR"]

  package init(program: String, runtimeFolder: String?) {
    self.program = program
    self.runtimeFolder = runtimeFolder
  }

  /// The filters of system calls that every worker would make, made once; they make their own when that can't be
  /// done. Waits for a process that takes some milliseconds.
  package func madeFilter(_ kernel: KernelConfinement) -> CallFilter {
    guard kernel.hasFilter, let (read, write) = try? UnixSocket.pipe(),
      let null = try? Directory("/dev").openDevice("null"),
      let child = try? ChildProcess(
        .init(
          program: program, arguments: ["filter", "\(kernel.landlock)"], descriptors: [null, write, null], folder: "/"))
    else { return CallFilter() }
    // Less than a pipe holds, so the end of the process can be waited for before it is read.
    guard child.end(wait: true) == .exited(0), (try? read.setNonBlocking()) != nil else {
      return CallFilter()
    }
    var room = [UInt8](repeating: 0, count: 64 * 1024)
    let got = room.withUnsafeMutableBytes { raw in (try? read.read(into: raw)) ?? nil } ?? 0
    return CallFilter(printed: Array(room.prefix(got))) ?? CallFilter()
  }

  /// A started worker and the host's ends of its connections.
  package struct Started: Sendable {
    package var child: ChildProcess
    package var socket: Descriptor
    package var output: Descriptor
    package var errors: Descriptor
  }

  /// Starts one; to be called on a thread that lives as long as the host.
  ///
  /// - Parameter usesRuntime: for the targets that are shipped with the host. Others bring their own or need none.
  package func start(usesRuntime: Bool) throws(SystemError) -> Started {
    let (near, far) = try UnixSocket.pair()
    let output = try UnixSocket.pipe()
    let errors = try UnixSocket.pipe()
    for end in [near, output.read, errors.read] { try end.setNonBlocking() }
    var environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
    for name in Self.passedOn {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    if usesRuntime, let runtimeFolder { environment["LD_LIBRARY_PATH"] = runtimeFolder }
    let nothing = try Directory("/dev").openDevice("null")
    let child = try ChildProcess(
      .init(
        program: program, arguments: ["\(getpid())"], environment: environment,
        descriptors: [nothing, output.write, errors.write, far], folder: "/"))
    return Started(child: child, socket: near, output: output.read, errors: errors.read)
  }
}
