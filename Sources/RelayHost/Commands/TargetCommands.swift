// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayDelivery
import RelayJSON
import RelayPipelines

/// `targets` and `schema`.
enum TargetCommands {
  static func list(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      if let places = try? session.file().places(), let client = try Session.client(of: places.state) {
        return Ending.reply(try client.ask(.targets), json: json, words)
      }
      let catalogue = try Workshop(for: try? session.file()).targets(in: folders(session))
      return Ending.reply(ControlReply(UseCases.targets(catalogue)), json: json, words)
    }
  }

  /// Without a configuration there are still the targets that come with the program.
  private static func folders(_ session: Session) -> [String] { (try? session.file().places().targets) ?? [] }

  private static func words(_ result: JSONNode) -> String {
    let targets = result["targets"]?.array ?? []
    guard !targets.isEmpty else { return "No targets were found.\n" }
    var rows = [["ID", "VERSION", "UNIT", "STATE", "FILE"]]
    for target in targets {
      rows.append([
        target.shown("id"), target.shown("version"), target.shown("unit"), target.shown("state"),
        target.shown("file") + (target["reason"]?.string.map { "\n    \($0)" } ?? ""),
      ])
    }
    return Words.table(rows)
  }

  static func schema(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    Ending.of(json: false) { () throws(Refusal) in
      let catalogue = try Workshop(for: try? session.file()).targets(in: folders(session))
      return .print(String(decoding: ConfigurationSchema.json(targets: catalogue.manifests), as: UTF8.self))
    }
  }
}
