// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON

@testable import RelayPipelines

/// The targets that a configuration under test may name.
private let knownTargets: [TargetManifest] = [
  #"""
  {"id": "http", "name": "HTTP", "version": "1.0.0", "unit": "part", "idempotent": true, "finalAnswer": 120,
   "settings": {"type": "object", "required": ["url"], "additionalProperties": false, "properties": {
     "url": {"type": "string", "minLength": 1, "x-relay-template": true, "x-relay-secret": "allowed"},
     "method": {"enum": ["POST", "PUT", "PATCH"], "default": "POST"},
     "headers": {"type": "object", "additionalProperties": {"type": "string", "x-relay-secret": "allowed"}},
     "bearer": {"type": "string", "x-relay-secret": "required"},
     "retries": {"type": "integer", "minimum": 0, "maximum": 9}, "ratio": {"type": "number"},
     "successStatuses": {"type": "array", "items": {"type": "integer", "minimum": 100, "maximum": 599}}}}}
  """#,
  #"""
  {"id": "folder", "name": "Folder", "version": "1.0.0", "unit": "part", "idempotent": true,
   "settings": {"type": "object", "required": ["directory"], "additionalProperties": false, "properties": {
     "directory": {"type": "string", "x-relay-access": "write"},
     "file": {"type": "string", "x-relay-template": true, "default": "{{ file.name }}"}}}}
  """#,
].compactMap { TargetManifest.read(Array($0.utf8), origin: "fuzz").manifest }

/// pipelines.json becomes a configuration or problems, and problems can be shown.
func configurationHolds(_ bytes: [UInt8]) throws {
  let environment = ConfigurationEnvironment(
    currentDirectory: "/nonexistent/fuzz", checkTemplate: { SettingsTemplates.problem($0, $1) })
  func read() -> (configuration: Configuration?, problems: [Diagnostic]) {
    ConfigurationReader.read(bytes: bytes, file: "pipelines.json", targets: knownTargets, environment: environment)
  }
  let (configuration, problems) = read()
  let blocks = problems.contains { $0.blocksLoading }
  try hold((configuration == nil) == blocks, "there is a configuration unless a problem blocks loading")
  try problemsHold(problems, bytes)
  let again = read()
  try hold(again.configuration == configuration && again.problems == problems, "reading twice gives the same")
  guard let configuration else { return }
  try hold(configuration.state.utf8.first == UInt8(ascii: "/"), "paths are absolute")
  try hold(
    Set(configuration.pipelines.map(\.id)).count == configuration.pipelines.count, "each pipeline has its own id")
}

/// What a target says of itself becomes a manifest or problems; its schema can be tried on any settings.
///
/// The input is a manifest, and behind a zero byte the settings.
func targetManifestHolds(_ bytes: [UInt8]) throws {
  let pieces = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
  let text = pieces.first ?? []
  let (manifest, problems) = TargetManifest.read(text, origin: "libfuzz.so", hostVersion: "0.1.0")
  let blocks = problems.contains { $0.blocksLoading }
  try hold((manifest == nil) == blocks, "there is a manifest unless a problem blocks loading")
  try problemsHold(problems, text)
  guard let manifest else { return }
  try hold(manifest.finalAnswer > 0, "there is some time for the final answer")
  guard pieces.count == 2, let settings = try? JSONTree.parse(pieces[1]) else { return }
  for problem in manifest.settings.validate(settings) {
    try hold(isPlain(problem.message), "a problem has no control characters: \(problem.message.debugDescription)")
  }
  let load = #"{"target": "\#(manifest.id)", "settings": \#(settings.text())}"#
  let file = #"{"pipelines": [{"id": "a", "extract": {"from": "inbox"}, "load": \#(load)}]}"#
  let (_, found) = ConfigurationReader.read(bytes: Array(file.utf8), file: "pipelines.json", targets: [manifest])
  try problemsHold(found, Array(file.utf8))
}

/// Problems lie in the file and are safe to show.
private func problemsHold(_ problems: [Diagnostic], _ bytes: [UInt8]) throws {
  for problem in problems {
    try hold(isPlain(problem.headline), "a headline has no control characters: \(problem.headline.debugDescription)")
    let lines = problem.text.split(separator: "\n", omittingEmptySubsequences: false)
    try hold(lines.count == 2 || lines.count == 4, "a problem takes one line, or three with its place: \(lines.count)")
    for line in lines {
      let visible = String(line.filter { $0 != "\t" })
      try hold(isPlain(visible), "a source line has no control characters: \(visible.debugDescription)")
    }
    if let place = problem.place {
      try hold(place.line >= 1 && place.column >= 1, "places count from 1")
      try hold(place.range.lowerBound <= bytes.count, "a place lies in the file")
    }
    var writer = JSONWriter()
    problem.write(to: &writer)
    let node = try? JSONTree.parse(writer.take())
    try hold(node?["message"]?.string == problem.message, "a problem's JSON says what the problem says")
  }
}
