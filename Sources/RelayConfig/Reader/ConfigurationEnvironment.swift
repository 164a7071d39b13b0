// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON

/// What reading a configuration takes from around the file; handed in, so that tests choose it.
package struct ConfigurationEnvironment: Sendable {
  /// A fault in a template, from 1.
  package struct TemplateFault: Equatable, Sendable {
    package var line: Int
    package var column: Int
    package var message: String
    package var code: DiagnosticCode

    package init(line: Int, column: Int, message: String, code: DiagnosticCode = .templateSyntax) {
      self.code = code
      self.line = line
      self.column = column
      self.message = message
    }
  }

  package typealias TemplateCheck = @Sendable (_ path: String, _ text: String) -> TemplateFault?

  package var currentDirectory: String
  /// `$STATE_DIRECTORY`
  package var stateDirectory: String?
  /// `$CREDENTIALS_DIRECTORY`
  package var credentialsDirectory: String?
  /// Where the program's own targets lie.
  package var programTargets: String?
  /// Where the IANA database lies; nil takes every name of the right form.
  package var zoneFolder: String?
  /// Says what is wrong with a template, given its setting's path and its text; this module knows no template language.
  package var checkTemplate: TemplateCheck

  package init(
    currentDirectory: String = "/", stateDirectory: String? = nil, credentialsDirectory: String? = nil,
    programTargets: String? = nil, zoneFolder: String? = nil, checkTemplate: @escaping TemplateCheck = { _, _ in nil }
  ) {
    self.currentDirectory = currentDirectory
    self.stateDirectory = stateDirectory
    self.credentialsDirectory = credentialsDirectory
    self.programTargets = programTargets
    self.zoneFolder = zoneFolder
    self.checkTemplate = checkTemplate
  }

  /// This process's own.
  package static func ofProcess(
    programTargets: String? = nil, checkTemplate: @escaping TemplateCheck = { _, _ in nil }
  ) -> ConfigurationEnvironment {
    var folder = "/"
    if let raw = getcwd(nil, 0) {
      folder = String(cString: raw)
      free(raw)
    }
    return ConfigurationEnvironment(
      currentDirectory: folder, stateDirectory: variable("STATE_DIRECTORY"),
      credentialsDirectory: variable("CREDENTIALS_DIRECTORY"), programTargets: programTargets,
      zoneFolder: "/usr/share/zoneinfo",
      checkTemplate: checkTemplate)
  }

  /// The state folder of a file that doesn't name one.
  package func defaultState(forFileIn folder: String) -> String {
    // systemd joins several folders by colons; the first is the main one.
    if let first = stateDirectory?.split(separator: ":").first { return PathRules.absolute(String(first), in: folder) }
    return PathRules.isInside(folder, "/etc") ? "/var/lib/relay-host" : PathRules.absolute("relay-data", in: folder)
  }

  func knowsZone(_ name: String) -> Bool {
    guard Names.isZone(name) else { return false }
    guard let zoneFolder else { return true }
    return access("\(zoneFolder)/\(name)", R_OK) == 0
  }

  private static func variable(_ name: String) -> String? {
    guard let raw = getenv(name) else { return nil }
    let value = String(cString: raw)
    return value.isEmpty ? nil : value
  }
}
