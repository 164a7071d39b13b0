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
      let paths = Array(arguments.operands.dropFirst())
      // All of them are looked at before the first is handed over.
      for path in paths { _ = try open(path) }
      let names = paths.map(name)
      let file = try session.file()
      let places = try file.places()
      let reply: ControlReply
      if let client = try ControlClient(stateFolder: places.state) {
        reply = try client.submit(pipeline, names: names) { place throws(Refusal) in try open(paths[place]) }
      } else {
        var next = 0
        reply = try session.alone(file, places.targets, needsOwner: true).0
          .answer(.submit(pipeline: pipeline, names: names)) { () throws(Refusal) in
            defer { next += 1 }
            return try open(paths[next])
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

  private static func open(_ path: String) throws(Refusal) -> Descriptor {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let file: Descriptor
    let status: FileStatus
    do {
      // "-" and the like: whatever can be read to its end, but a folder.
      file = path == "-" ? try Directory("/dev").openFollowing("stdin") : try Directory(folder).openFollowing(name)
      status = try file.status()
    } catch {
      throw Refusal(
        .usage, .submitNoFile, "\(path) can't be read: \(SystemError.text(of: error.code)).",
        hint: "nothing was handed over")
    }
    if status.kind == .folder {
      throw Refusal(
        .usage, .submitNoFile, "\(path) is a folder.", hint: "hand over the files in it, or an archive of it")
    }
    return file
  }

  private static func name(of path: String) -> String {
    if path == "-" { return "stdin" }
    return path.split(separator: "/").last.map(String.init) ?? path
  }
}
