// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelayPipelines
import RelaySystem

/// `relay-host submit PIPELINE FILE…`
enum SubmitCommand {
  static func run(_ session: Session, _ arguments: ParsedArguments) -> Ending {
    let json = arguments.has("--json")
    return Ending.of(json: json) { () throws(Refusal) in
      guard let pipeline = arguments.operands.first else { return Ending() }
      let files = try NamedFile.all(Array(arguments.operands.dropFirst()))
      let names = files.map(\.name)
      let reply: ControlReply
      switch try session.way(needsOwner: true) {
      case .daemon(let client):
        reply = try client.submit(pipeline, names: names) { place throws(Refusal) in try files[place].open() }
      case .alone(let useCases, _):
        var rest = files[...]
        reply = useCases.answer(.submit(pipeline: pipeline, names: names)) { () throws(Refusal) in
          guard let next = rest.popFirst() else { throw Refusal(.fault, .commandFault, "A file is missing.") }
          return try next.open()
        }
      }
      return Ending.reply(reply, json: json, words)
    }
  }

  private static func words(_ result: JSONNode) -> String {
    let parts = result["parts"]?.integer ?? 0
    let size = Words.bytes(result["bytes"]?.integer ?? 0)
    let text =
      "Accepted \(Words.count(parts, "file", "files")) (\(size)) for \(result.shown("pipeline")) as artifact "
      + "\(result.shown("artifact")).\n"
    let isRunning = result["daemon"]?.bool ?? false
    return isRunning ? text : text + "No daemon runs; it is delivered when one is started.\n"
  }
}
