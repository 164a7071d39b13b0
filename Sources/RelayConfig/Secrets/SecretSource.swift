// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem

/// The three places in which a secret is looked for, the first one that has it wins.
package struct SecretSource: Sendable {
  /// `$CREDENTIALS_DIRECTORY`, which systemd fills.
  package var credentialsDirectory: String?
  /// `<state>/secrets`.
  package var stateSecretsFolder: String
  package var environment: [String: String]

  /// The most bytes a secret may have.
  package static let maximumBytes = 1 << 20

  package init(credentialsDirectory: String?, stateSecretsFolder: String, environment: [String: String]) {
    self.credentialsDirectory = credentialsDirectory
    self.stateSecretsFolder = stateSecretsFolder
    self.environment = environment
  }

  /// `RELAY_SECRET_HA_TOKEN` for `ha-token`.
  package static func variable(for name: String) -> String {
    "RELAY_SECRET_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  /// The secret, and what a person should know about it although it works.
  package func secret(_ name: String) throws(SecretError) -> (secret: Secret, warnings: [Diagnostic]) {
    guard Names.isID(name) else { throw .badName(name) }
    var places: [String] = []
    var found: (bytes: [UInt8], warnings: [Diagnostic])?
    if let folder = credentialsDirectory {
      places.append("\(folder)/\(name)")
      found = try file(name, in: folder, isOurs: false)
    } else {
      places.append("$CREDENTIALS_DIRECTORY (not set)")
    }
    if found == nil {
      places.append("\(stateSecretsFolder)/\(name)")
      found = try file(name, in: stateSecretsFolder, isOurs: true)
    }
    if found == nil {
      places.append("$\(Self.variable(for: name))")
      found = environment[Self.variable(for: name)].map { (Array($0.utf8), []) }
    }
    guard let (raw, warnings) = found else { throw .notFound(name: name, places: places) }
    let secret = Secret(name: name, bytes: Self.droppingFinalNewline(raw))
    guard !secret.bytes.isEmpty else { throw .empty(name: name) }
    guard secret.isShort else { return (secret, warnings) }
    let short = Diagnostic(
      .secretShort, "secret \"\(name)\" has fewer than \(Secret.shortLimit) bytes and is blanked only as a whole word",
      hint: "use a longer one")
    return (secret, warnings + [short])
  }

  private func file(
    _ name: String, in path: String, isOurs: Bool
  ) throws(SecretError) -> (bytes: [UInt8], warnings: [Diagnostic])? {
    do throws(SystemError) {
      let file = try Directory(path).openFile(name)
      var warnings: [Diagnostic] = []
      if isOurs, try file.status().mode & 0o077 != 0 {
        warnings.append(
          Diagnostic(
            .secretLoosePermissions, "the file of secret \"\(name)\" is open to others",
            hint: "run \"chmod 600 \(path)/\(name)\""))
      }
      return (try file.readAll(limit: Self.maximumBytes), warnings)
    } catch {
      if error.code == ENOENT { return nil }
      throw SecretError.unreadable(name: name, place: "\(path)/\(name)", cause: SystemError.text(of: error.code))
    }
  }

  /// Exactly one: a secret may end in line breaks of its own.
  private static func droppingFinalNewline(_ bytes: [UInt8]) -> [UInt8] {
    bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
  }
}
