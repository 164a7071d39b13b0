// SPDX-License-Identifier: Apache-2.0
import RelayJSON
import RelayPipelines

/// `queue`, `refused` and `log`: what lies there, and what is done with it.
enum QueueCommands {
  static func list(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    ask(session, arguments, { .queue(pipeline: $0[0]) }, needsOwner: false) { result in
      let artifacts = result["artifacts"]?.array ?? []
      guard !artifacts.isEmpty else { return "Nothing waits in \(result.shown("pipeline")).\n" }
      var rows = [["SEQUENCE", "ARTIFACT", "CREATED", "PARTS", "SIZE", "FILES"]]
      for artifact in artifacts {
        let files = (artifact["files"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        rows.append([
          artifact.shown("sequence"), artifact.shown("artifact"), artifact.shown("created"),
          "\(artifact.shown("delivered"))/\(artifact.shown("parts"))", Words.bytes(artifact["bytes"]?.integer ?? 0),
          artifact["problem"]?.string ?? (artifact["sending"]?.bool == true ? "(sending) " : "") + files,
        ])
      }
      var text = Words.table(rows)
      if let more = result["more"]?.integer, more > 0 { text += "… and \(more) more\n" }
      if let attention = result["attention"]?.string {
        text += "It needs you: \(attention)\n"
      } else if let since = result["stuckSince"]?.string {
        text += "Stuck since \(since), \(Words.count(result["attempts"]?.integer ?? 0, "attempt", "attempts")), "
        text += "next \(result.shown("nextAttempt")): \(result.shown("lastMessage"))\n"
      }
      return text
    }
  }

  static func drop(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    ask(session, arguments, { .drop(pipeline: $0[0], artifact: $0[1]) }, needsOwner: true) { result in
      let (artifact, pipeline) = (result.shown("artifact"), result.shown("pipeline"))
      return result["setAside"]?.bool == false
        ? "Artifact \(artifact) wasn't set aside: it was delivered in that moment. See `relay-host log \(pipeline)`.\n"
        : "Artifact \(artifact) is set aside. See `relay-host refused \(pipeline)`.\n"
    }
  }

  static func refused(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    ask(session, arguments, { .refused(pipeline: $0[0]) }, needsOwner: false) { result in
      let artifacts = result["artifacts"]?.array ?? []
      guard !artifacts.isEmpty else { return "Nothing was set aside in \(result.shown("pipeline")).\n" }
      var rows = [["NAME", "ARTIFACT", "SET ASIDE", "VERDICT", "SIZE", "FILES", "REASON"]]
      for artifact in artifacts {
        rows.append([
          artifact.shown("name"), artifact.shown("artifact"), artifact.shown("at"), artifact.shown("verdict"),
          Words.bytes(artifact["bytes"]?.integer ?? 0),
          (artifact["files"]?.array ?? []).compactMap(\.string).joined(separator: ", "), artifact.shown("message"),
        ])
      }
      return Words.table(rows)
    }
  }

  static func resend(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    ask(session, arguments, { .resendRefused(pipeline: $0[0], artifact: $0[1]) }, needsOwner: true) { result in
      "Artifact \(result.shown("artifact")) is back in the queue, as its last.\n"
    }
  }

  static func delete(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    ask(session, arguments, { .deleteRefused(pipeline: $0[0], artifact: $0[1]) }, needsOwner: true) { result in
      "Artifact \(result.shown("artifact")) is deleted.\n"
    }
  }

  static func log(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let wanted = arguments["-n"] ?? "20"
    guard let count = Int(wanted), count > 0 else {
      return .usage(
        UsageError(message: "-n takes a number above 0, not \"\(wanted)\"", usage: "relay-host log PIPELINE [-n N]"))
    }
    if arguments.has("--json") {
      // One object a line, as the file itself holds them.
      return Ending.of(json: true) { () throws(Refusal) in
        let reply = try session.ask(.log(pipeline: arguments.operands[0], count: count), needsOwner: false)
        if let refusal = reply.refusal { return .refused(refusal, json: true) }
        let lines = (reply.result["deliveries"]?.array ?? []).map { $0.text(.compact) + "\n" }
        return .print(lines.joined())
      }
    }
    return ask(session, arguments, { .log(pipeline: $0[0], count: count) }, needsOwner: false) { result in
      let deliveries = result["deliveries"]?.array ?? []
      guard !deliveries.isEmpty else { return "Nothing was delivered by \(result.shown("pipeline")) yet.\n" }
      var rows = [["AT", "ARTIFACT", "PART", "ATTEMPT", "VERDICT", "STATUS", "MS", "MESSAGE"]]
      for delivery in deliveries {
        rows.append(
          ["at", "artifact", "part", "attempt", "verdict", "status", "milliseconds", "message"].map { name in
            // A target whose protocol has no numbers reports 0.
            name == "status" && delivery[name]?.integer == 0 ? "-" : delivery.shown(name)
          })
      }
      return Words.table(rows)
    }
  }

  static func ask(
    _ session: Session, _ arguments: ParsedArguments, _ request: ([String]) -> ControlRequest, needsOwner: Bool,
    _ words: (JSONNode) -> String
  ) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      .reply(try session.ask(request(arguments.operands), needsOwner: needsOwner), json: json, words)
    }
  }
}
