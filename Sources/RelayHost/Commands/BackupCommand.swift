// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelayPipelines
import RelayQueue
import RelaySystem

/// `relay-host backup FOLDER`
enum BackupCommand {
  static func run(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      let path = absolute(arguments.operands[0])
      if arguments.has("--verify") {
        let reply = try verify(path, showing: !json)
        return Ending.reply(reply, json: json) { "The backup of \($0.shown("created")) is whole: \(holds($0)).\n" }
      }
      let reply = try write(session, path, withSecrets: arguments.has("--with-secrets"), showing: !json)
      return Ending.reply(reply, json: json, words)
    }
  }

  static func absolute(_ path: String) -> String {
    PathRules.absolute(path, in: ConfigurationEnvironment.ofProcess().currentDirectory)
  }

  private static func write(
    _ session: Session, _ path: String, withSecrets: Bool, showing: Bool
  ) throws(Refusal) -> ControlReply {
    let file = try session.file()
    let state = try file.places().state
    let progress = ProgressLine(isShown: showing)
    defer { progress.end() }
    switch try way(state) {
    case .daemon(let client):
      return try Destination.with(path, owner: try? Directory(state).descriptor.status().owner) {
        folder throws(Refusal) in
        try client.backup(into: folder, withSecrets: withSecrets) { progress.show($0) }
      }
    case .alone(let folder):
      let job = BackupJob(state: folder, file: file, inboxes: try file.inboxes())
      return try Destination.with(path, owner: nil) { folder throws(Refusal) in
        try job.run(into: folder, withSecrets: withSecrets, isDaemon: false) { done in
          progress.show(done)
          return true
        }
      }
    }
  }

  private enum Way {
    case daemon(ControlClient)
    case alone(StateFolder)
  }

  /// How long another command, or a daemon that starts or stops, is waited for, in milliseconds.
  private static let patience: Int64 = 20_000

  /// The daemon where one answers; else the state folder, kept from everybody else meanwhile. The configuration may be
  /// wrong: what is in the state folder is worth a backup all the same.
  private static func way(_ state: String) throws(Refusal) -> Way {
    if let client = try Session.client(of: state) { return .daemon(client) }
    try Session.refuseForeignState(state)
    let deadline = BootTime.now.advanced(milliseconds: patience)
    while true {
      do throws(StateError) {
        return .alone(try StateFolder.open(state, access: .keeper))
      } catch {
        if case .system(let cause) = error, cause.isMissing {
          throw Refusal(
            .usage, .stateUnusable, "\(state) is no state folder yet, so there is nothing to back up.",
            hint: "does --config name the right pipelines.json?")
        }
        guard case .inUse = error, BootTime.now < deadline else { throw Refusal(error) }
      }
      if let client = try Session.client(of: state) { return .daemon(client) }
      usleep(20_000)
    }
  }

  private static func verify(_ path: String, showing: Bool) throws(Refusal) -> ControlReply {
    let progress = ProgressLine(isShown: showing)
    defer { progress.end() }
    let start = BootTime.now
    do throws(BackupError) {
      let backup = try open(path)
      try backup.verify(
        progress: BackupJob.nowAndThen { done in
          progress.show(done)
          return true
        })
      return ControlReply(
        BackupJob.result(backup.manifest, folder: path, milliseconds: BootTime.now.milliseconds(since: start)))
    } catch {
      throw Refusal(error)
    }
  }

  static func open(_ path: String) throws(BackupError) -> BackupReader {
    let folder: Directory
    do { folder = try Directory(path) } catch { throw .unreadable(error) }
    return try BackupReader(folder)
  }

  /// "3 pipelines, 12 artifacts, 40 files, 34 MB"
  static func holds(_ result: JSONNode) -> String {
    [
      Words.count(Int64(result["pipelines"]?.array?.count ?? 0), "pipeline", "pipelines"),
      Words.count(result["artifacts"]?.integer ?? 0, "artifact", "artifacts"),
      Words.count(result["files"]?.integer ?? 0, "file", "files"), Words.bytes(result["bytes"]?.integer ?? 0),
    ].joined(separator: ", ")
  }

  private static func words(_ result: JSONNode) -> String {
    let seconds = result["seconds"]?.double ?? 0
    var text = "\(result.shown("folder")) holds a backup of \(holds(result)); it took \(tenths(seconds)) s.\n"
    for pipeline in result["pipelines"]?.array ?? [] {
      for path in (pipeline["leftOut"]?.array ?? []).compactMap(\.string) {
        text += "Left out, because it is still being written or is nothing of this program: \(path)\n"
      }
    }
    if result["secrets"]?.bool != true { text += "It holds no secrets; --with-secrets takes them in.\n" }
    return text
  }

  private static func tenths(_ seconds: Double) -> String {
    let tenths = Int64((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
