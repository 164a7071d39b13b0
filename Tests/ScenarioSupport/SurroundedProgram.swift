// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport

/// The program, started as somebody else or on a kernel that has less: a script that becomes it.
package enum SurroundedProgram {
  /// On a kernel with this level of Landlock (0: none), and seccomp filters or not.
  package static func lacking(landlock: Int, seccomp: Bool, program: String = Installation.program) throws -> String {
    try script("'\(lackingProgram.get())' \(landlock) \(seccomp ? 1 : 0)", program)
  }

  /// As the user that nothing belongs to; for root only.
  package static func asNobody(program: String = Installation.program) throws -> String {
    try script("setpriv --reuid=65534 --regid=65534 --clear-groups", program)
  }

  /// On a machine whose /etc/hosts knows one more name, of this machine, and that trusts one authority alone; for root only.
  ///
  /// - Parameter authority: a PEM file that is there when the program is started.
  package static func knowing(
    _ name: String, trusting authority: String, program: String = Installation.program
  ) throws -> String {
    let hosts = "\(place)/hosts-\(Identifier.random())"
    try File.write("127.0.0.1 localhost \(name)\n".utf8, to: hosts)
    chmod(hosts, 0o644)
    let mounts = "mount --bind \(hosts) /etc/hosts && mount --bind \(authority) \(authorities)"
    return try script("unshare --mount sh -c '\(mounts) && exec \"$@\"' sh", program)
  }

  private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

  /// Whether the machine's names and authorities can be others for the program alone.
  package static let isOtherMachinePossible =
    File.exists(authorities)
    && (try? Command.run(["unshare", "--mount", "sh", "-c", "mount --bind /etc/hosts /etc/hosts"]))?.status == 0

  /// Whether the program can be started as that user: by root, from folders that everybody may enter.
  package static let isNobodyPossible =
    geteuid() == 0
    && (try? Command.run([
      "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Installation.program, "--version",
    ]))?
    .status == 0

  private static func script(_ prefix: String, _ program: String) throws -> String {
    let path = "\(place)/\(Identifier.random())"
    try File.write("#!/bin/sh\nexec \(prefix) '\(program)' \"$@\"\n".utf8, to: path)
    chmod(path, 0o755)
    return path
  }

  /// Where everybody may enter; removed with the test process.
  private static let place: String = {
    let made = "/tmp/relay-program-\(Identifier.random())"
    mkdir(made, 0o755)
    chmod(made, 0o755)
    atexit { _ = try? Command.run(["rm", "-rf", "--", SurroundedProgram.place]) }
    return made
  }()

  private static let lackingProgram = Result { () throws -> String in
    let path = TemporaryFolder.shared.path("lacking")
    let source = Repository.path("Tests/Fixtures/programs/lacking.c")
    let made = try Command.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", source, "-o", path])
    guard made.status == 0 else { throw ScenarioProblem(made.output) }
    return path
  }
}
