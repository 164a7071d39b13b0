// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayPipelines

/// `pause`, `resume`, `retry`, `remove`, `test` and `reload`.
enum SteeringCommands {
  static func pause(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    QueueCommands.ask(session, arguments, { .pause(pipeline: $0[0]) }, needsOwner: true) { result in
      "\(result.shown("pipeline")) is paused until `relay-host resume \(result.shown("pipeline"))`.\n"
    }
  }

  static func resume(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    QueueCommands.ask(session, arguments, { .resume(pipeline: $0[0]) }, needsOwner: true) { result in
      result["pausedByConfiguration"]?.bool == true
        ? "\(result.shown("pipeline")) stays paused: the configuration says \"paused\": true.\n"
        : "\(result.shown("pipeline")) goes on.\n"
    }
  }

  static func retry(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    QueueCommands.ask(session, arguments, { .retry(pipeline: $0[0]) }, needsOwner: false) { result in
      let id = result.shown("pipeline")
      switch result["state"]?.string {
      case "idle": return "Nothing waits in \(id).\n"
      case "paused": return "\(id) is paused, so nothing was tried; `relay-host resume \(id)` goes on.\n"
      default: return "\(id) tries now.\n"
      }
    }
  }

  static func remove(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    guard arguments.has("--yes") || (!json && isatty(0) == 1 && confirmed(arguments.operands[0])) else {
      return .refused(
        Refusal(
          .usage, .commandUsage, "Removing a pipeline deletes its queue, what was set aside and its log.",
          hint: "say so with --yes"), json: json)
    }
    return QueueCommands.ask(session, arguments, { .remove(pipeline: $0[0]) }, needsOwner: true) { result in
      guard result["removed"]?.bool == true else { return "There was nothing of \(result.shown("pipeline")).\n" }
      let lost = "with \(result.shown("waiting")) waiting and \(result.shown("refused")) set aside"
      return result["stillConfigured"]?.bool == true
        ? "\(result.shown("pipeline")) is removed, \(lost); as it is still in the configuration, it begins again from nothing.\n"
        : "\(result.shown("pipeline")) is removed, \(lost).\n"
    }
  }

  private static func confirmed(_ pipeline: String) -> Bool {
    print("Delete the queue, what was set aside and the log of \(pipeline)? Type its id to go on: ", terminator: "")
    return readLine() == pipeline
  }

  static func test(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    QueueCommands.ask(session, arguments, { .test(pipeline: $0[0]) }, needsOwner: true) { result in
      let status = result["status"]?.integer ?? 0
      let answer =
        (status == 0 ? "" : " \(status)") + (result.shown("message").isEmpty ? "" : " \(result.shown("message"))")
      return result["passed"]?.bool == true
        ? "The test was accepted.\(answer)\n" : "The test was not accepted: \(result.shown("verdict")).\(answer)\n"
    }
  }

  static func reload(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    QueueCommands.ask(session, arguments, { _ in .reload }, needsOwner: false) { _ in
      "The configuration is read and in force.\n"
    }
  }
}
