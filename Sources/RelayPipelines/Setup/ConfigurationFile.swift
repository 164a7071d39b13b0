// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayDelivery
import RelayJSON
import RelaySystem
import RelayTemplates

/// The pipelines.json that is in use: where it lies and what it says.
package struct ConfigurationFile: Equatable, Sendable {
  /// As a person named it or as it was found.
  package let path: String

  package init(path: String) { self.path = path }

  /// The named file, or the first that exists where one is looked for.
  package static func find(named name: String?) throws(Refusal) -> ConfigurationFile {
    if let name { return ConfigurationFile(path: name) }
    var places = ["pipelines.json"]
    if let base = getenv("XDG_CONFIG_HOME").map({ String(cString: $0) }), base.hasPrefix("/") {
      places.append("\(base)/relay-host/pipelines.json")
    } else if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") {
      places.append("\(home)/.config/relay-host/pipelines.json")
    }
    places.append("/etc/relay-host/pipelines.json")
    if let found = places.first(where: { access($0, F_OK) == 0 }) { return ConfigurationFile(path: found) }
    throw Refusal(
      .usage, .commandNoConfiguration, "No configuration was found: looked for \(places.joined(separator: ", ")).",
      hint: "name one with --config FILE; the README shows a first one")
  }

  /// The file's bytes.
  package func bytes() throws(Refusal) -> [UInt8] {
    do throws(SystemError) {
      let (folder, name) = split
      let file = try Directory(folder).openFollowing(name)
      guard try file.status().kind == .file else {
        throw SystemError(call: .read, code: EINVAL, subject: path)
      }
      return try file.readAll(limit: 8 << 20)
    } catch {
      if error.code == EINVAL || error.code == EISDIR {
        throw Refusal(
          .usage, .commandNotFound, "\(path) is no regular file.",
          hint: "it is read whenever it changes, so it can't be a pipe, a device or a folder")
      }
      throw Refusal(
        .usage, .commandNotFound, "\(path) can't be read: \(SystemError.text(of: error.code)).",
        hint: "is the path right, and may this user read it?")
    }
  }

  /// What tells whether the file has changed; nil while it isn't there.
  package func stamp() -> FileStatus? {
    let (folder, name) = split
    return try? Directory(folder).openFollowing(name).status()
  }

  package var folder: String { split.folder }

  private var split: (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return (folder, String(path[path.index(after: slash)...]))
  }

  /// "1 mistake", "4 mistakes".
  package static func count(_ errors: [Diagnostic]) -> String {
    errors.count == 1 ? "1 mistake" : "\(errors.count) mistakes"
  }

  /// What the file says, with the targets that were found, and everything that is wrong with it.
  package func read(_ bytes: [UInt8], targets: [TargetManifest]) -> (Configuration?, [Diagnostic]) {
    let result = ConfigurationReader.read(
      bytes: bytes, file: path, targets: targets,
      environment: .ofProcess(
        programTargets: ProgramLayout.ofProcess().targets, checkTemplate: SettingsTemplates.problem))
    return (result.configuration, result.problems)
  }

  /// Where state and targets are: enough to ask the daemon, even if something else in the file is wrong.
  package struct Places {
    package var state: String
    package var targets: [String]
    package var confinement: ConfinementMode?
  }

  package func places() throws(Refusal) -> Places {
    let bytes = try bytes()
    let environment = ConfigurationEnvironment.ofProcess()
    let folder = PathRules.absolute(folder, in: environment.currentDirectory)
    let root = JSONTree.parseCollecting(bytes).0
    let state =
      root?["state"]?.string.map { PathRules.absolute($0, in: folder) } ?? environment.defaultState(forFileIn: folder)
    let targets = root?["targets"]?.array?.compactMap(\.string).map { PathRules.absolute($0, in: folder) } ?? []
    return Places(
      state: state, targets: targets, confinement: root?["confinement"]?.string.flatMap(ConfinementMode.init))
  }

  /// The folders that pipelines name as their inbox, even if something else in the file is wrong.
  package func inboxes() throws(Refusal) -> [String] {
    let base = PathRules.absolute(folder, in: ConfigurationEnvironment.ofProcess().currentDirectory)
    let pipelines = JSONTree.parseCollecting(try bytes()).0?["pipelines"]?.array ?? []
    return pipelines.compactMap { $0["extract"]?["directory"]?.string.map { PathRules.absolute($0, in: base) } }
  }
}
