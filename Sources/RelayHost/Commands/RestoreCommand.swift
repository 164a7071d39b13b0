// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayPipelines
import RelayQueue
import RelaySystem

/// `relay-host restore FOLDER`
enum RestoreCommand {
  static func run(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      let backup: BackupReader
      do throws(BackupError) { backup = try BackupCommand.open(BackupCommand.absolute(arguments.operands[0])) } catch {
        throw Refusal(error)
      }
      let (state, configuration) = try place(session, arguments["--state"])
      if try ControlClient(stateFolder: state) != nil {
        throw Refusal(
          .needsYou, .stateInUse, "A daemon runs with \(state).",
          hint: "stop it first; a backup is put back into an empty state folder only")
      }
      try Session.refuseForeignState(state)
      let progress = ProgressLine(isShown: !json)
      defer { progress.end() }
      let reply = try RestoreJob(backup: backup, state: state, configuration: configuration).run { done in
        progress.show(done)
        return true
      }
      let isConfigured = configuration != nil
      return Ending.reply(reply, json: json) { words($0, isConfigured: isConfigured) }
    }
  }

  /// The state folder, and what the configuration says that will be used with it.
  private static func place(_ session: Session, _ named: String?) throws(Refusal) -> (String, [UInt8]?) {
    if let named {
      // The configuration may come later; one that was named must be there.
      let file = session.configuration == nil ? nil : try session.file()
      return (BackupCommand.absolute(named), try file?.bytes())
    }
    do throws(Refusal) {
      let file = try session.file()
      return (try file.places().state, try file.bytes())
    } catch {
      guard error.code == .commandNoConfiguration else { throw error }
      throw Refusal(
        error.outcome, error.code, error.message,
        hint: "put the pipelines.json of the backup where it belongs first, or name the state folder with --state PATH")
    }
  }

  private static func words(_ result: JSONNode, isConfigured: Bool) -> String {
    let folder = result.shown("folder")
    var text = "\(result.shown("state")) holds what was there at \(result.shown("created")): "
    text += "\(BackupCommand.holds(result)).\n"
    text += "What was delivered since is sent again, with the same identities. "
    text += "Files that waited in an inbox get new ones.\n"
    for path in (result["kept"]?.array ?? []).compactMap(\.string) {
      text += "There was another \(path) already; it was kept.\n"
    }
    for name in (result["missingSecrets"]?.array ?? []).compactMap(\.string) {
      text += "Secret \(name) is missing: relay-host secret set \(name)\n"
    }
    for id in (result["unconfigured"]?.array ?? []).compactMap(\.string) {
      text += "Pipeline \(id) isn't in the configuration; what waits in it stays where it is.\n"
    }
    if !isConfigured { text += "The pipelines.json of then is \(folder)/pipelines.json.\n" }
    return text
  }
}
