// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayJSON
import RelaySystem
import RelayTestSupport

/// More ways to look at an installation from outside.
extension Installation {
  /// Runs a shell script in the installation's folder; `relay` in it is the program with this installation's
  /// configuration, `$relay` its path.
  @discardableResult
  package func shell(_ script: String) throws -> Answer {
    let prelude = """
      relay=\(program); config=\(path)/pipelines.json; cd \(path) || exit 99
      relay() { "$relay" "$@" --config "$config"; }

      """
    let name = ".script-\(Identifier.random())"
    try write(name, prelude + script)
    defer { for end in ["", ".out", ".err"] { try? folder.remove(name + end) } }
    let child = try ChildProcess(
      .init(
        program: "/bin/bash", arguments: [path + "/" + name], environment: ["PATH": "/usr/bin:/bin", "HOME": path],
        descriptors: [
          try Directory("/dev").openDevice("null"), try folder.openOrCreateFile(name + ".out"),
          try folder.openOrCreateFile(name + ".err"),
        ], folder: path))
    let end = child.end(wait: true)
    let status: Int32 = if case .exited(let code)? = end { code } else { -1 }
    return Answer(status: status, output: text(of: name + ".out"), problems: text(of: name + ".err"))
  }

  /// The delivery log of a pipeline as it lies on the disk.
  package func deliveriesOnDisk(_ pipeline: String) -> [JSONNode] {
    text(of: "relay-data/pipelines/\(pipeline)/deliveries.ndjson").split(separator: "\n").compactMap {
      try? JSONTree.parse(Array($0.utf8))
    }
  }

  /// The artifacts in a pipeline's queue; what is being written isn't one yet.
  package func queue(_ pipeline: String) -> [String] {
    names(in: "relay-data/pipelines/\(pipeline)/queue").filter { !$0.hasPrefix(".") }
  }

  package func refused(_ pipeline: String) -> [String] { names(in: "relay-data/pipelines/\(pipeline)/refused") }

  /// The artifacts that a listing names.
  package func artifacts(_ list: String, _ pipeline: String) throws -> [String] {
    try run(list, pipeline, "--json").json?["artifacts"]?.array?.compactMap { $0["artifact"]?.string } ?? []
  }

  /// What `targets --json` says of a file in the targets folder; nil while it isn't listed.
  package func target(file: String) throws -> JSONNode? {
    try run("targets", "--json").json?["targets"]?.array?.first {
      $0["file"]?.string == path + "/targets/" + file
    }
  }

  /// Puts a target into the targets folder as a link to where it was compiled: it has been whole for long, so nothing
  /// has to be waited for.
  package func link(_ compiled: String, as name: String) throws {
    guard symlink(compiled, path + "/targets/" + name) == 0 else { throw CallError("symlink \(name)") }
  }

  /// A pipeline that delivers into the folder `out`.
  package static func filing(_ id: String, delivery: String = "\"spacing\": \"0s\"", settings: String = "") -> String {
    let more = settings.isEmpty ? "" : ", " + settings
    return """
      {"id": "\(id)", "extract": {"from": "inbox"}, "delivery": {\(delivery)},
       "load": {"target": "folder", "settings": {"directory": "out"\(more)}}}
      """
  }

  /// A pipeline to a target of the fixtures.
  package static func fixture(
    _ id: String, target: String = "org.example.hostile", settings: String, delivery: String
  ) -> String {
    """
    {"id": "\(id)", "extract": {"from": "inbox"}, "delivery": {\(delivery)},
     "load": {"target": "\(target)", "settings": {\(settings)}}}
    """
  }
}
