// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayPipelines

/// `relay-host status`
enum StatusCommand {
  static func run(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      let reply = try session.ask(.status(pipeline: arguments.operands.first), needsOwner: false)
      return Ending.reply(reply, json: json, words)
    }
  }

  private static func words(_ result: JSONNode) -> String {
    var text = ""
    if result["daemon"]?.bool != true { text += "No daemon runs; this is what the disk tells.\n" }
    if let problem = result["configurationProblem"]?.string {
      text += "The changed configuration is not used: \(problem)\n"
    }
    let pipelines = result["pipelines"]?.array ?? []
    if pipelines.isEmpty { text += "There are no pipelines.\n" }
    var rows = [["PIPELINE", "STATE", "QUEUED", "LAST SUCCESS", "NEXT ATTEMPT"]]
    for pipeline in pipelines {
      let artifacts = pipeline["queued"]?["artifacts"]?.integer
      let bytes = pipeline["queued"]?["bytes"]?.integer ?? 0
      rows.append([
        pipeline.shown("id"), pipeline["notRun"] == nil ? pipeline.shown("state") : "not run", queued(artifacts, bytes),
        pipeline.shown("lastSuccess"), pipeline.shown("nextAttempt"),
      ])
    }
    if rows.count > 1 { text += Words.table(rows) }
    for pipeline in pipelines {
      text += trouble(of: pipeline)
      if let refused = pipeline["refused"]?.integer, refused > 0 {
        text += "\n\(pipeline.shown("id")): \(Words.count(refused, "artifact was", "artifacts were")) set aside; "
        text += "see `relay-host refused \(pipeline.shown("id"))`\n"
      }
      if let corrupt = pipeline["corrupt"]?.integer, corrupt > 0 {
        text +=
          "\n\(pipeline.shown("id")): \(Words.count(corrupt, "damaged artifact lies", "damaged artifacts lie")) in "
        text += "corrupt/ of its folder; look at each reason.json\n"
      }
    }
    if let problem = result["confinement"]?["problem"]?.string { text += "\nConfinement: \(problem)\n" }
    for left in result["unconfigured"]?.array ?? [] {
      text +=
        "\n\(left.shown("id")) has left the configuration and holds \(left.shown("queuedArtifacts")) waiting artifacts and "
        + "\(left.shown("refused")) that were set aside: "
        + "put it back, or `relay-host remove \(left.shown("id"))`.\n"
    }
    return text
  }

  private static func queued(_ artifacts: Int64?, _ bytes: Int64) -> String {
    guard let artifacts else { return "?" }
    return artifacts == 0 ? "-" : "\(artifacts) (\(Words.bytes(bytes)))"
  }

  private static func trouble(of pipeline: JSONNode) -> String {
    let id = pipeline.shown("id")
    if let attention = pipeline["attention"], !attention.isNull {
      return "\n\(id) needs you: \(attention.shown("message")) [\(attention.shown("code"))]\n"
        + "  \(attention.shown("remedy"))\n"
    }
    var text = ""
    if let reason = pipeline["notRun"]?.string { text += "\n\(id) is not run: \(reason)\n" }
    if let trouble = pipeline["trouble"]?.string { text += "\n\(id): \(trouble)\n" }
    if let since = pipeline["stuckSince"]?.string {
      text +=
        "\n\(id) is stuck since \(since) after \(Words.count(pipeline["attempts"]?.integer ?? 0, "attempt", "attempts")): "
        + "\(pipeline["lastVerdict"]?.shown("message") ?? "")\n"
    }
    return text
  }
}
