// SPDX-License-Identifier: Apache-2.0
import RelayJSON

extension ConfigurationDecoder {
  private struct Inbox {
    var pipeline: PipelineConfiguration
    var directory: String
    var resolved: String
    var node: JSONNode
    /// Where the folder is named; the pipeline's id where it isn't.
    var place: JSONNode? { node["extract"]?["directory"] ?? node["id"] }
  }

  /// Folders that files are taken from: each is one pipeline's, none holds what the program lives on, and nothing that was
  /// delivered comes back through one.
  mutating func checkFolders(_ configuration: Configuration) {
    let inboxes = zip(pipelineNodes, configuration.pipelines).compactMap { node, pipeline -> Inbox? in
      guard node["extract"]?["from"]?.string == "inbox", case .inbox(let directory) = pipeline.extract else {
        return nil
      }
      return Inbox(
        pipeline: pipeline, directory: directory, resolved: PathRules.resolvingLinks(directory), node: node)
    }
    checkShared(inboxes.filter { !isProtected($0) })
    checkLoops(inboxes)
  }

  private mutating func isProtected(_ inbox: Inbox) -> Bool {
    let own = PathRules.resolvingLinks("\(state)/pipelines/\(inbox.pipeline.id)/inbox")
    guard inbox.resolved != own, let what = protected.conflict(with: inbox.resolved) else { return false }
    problems.add(
      .configProtectedPath, "the inbox \(quoted(inbox.directory)) would take away what is in \(what)",
      hint: "choose a folder apart from it", at: inbox.place?.range)
    return true
  }

  private mutating func checkShared(_ inboxes: [Inbox]) {
    var owners: [String: String] = [:]
    for inbox in inboxes {
      if let owner = owners[inbox.resolved] {
        // The same id twice was told already.
        guard owner != inbox.pipeline.id else { continue }
        problems.add(
          .configDuplicateInbox, "pipeline \"\(owner)\" takes its files from \(quoted(inbox.directory)) too",
          hint: "give each pipeline a folder of its own", at: inbox.place?.range)
      } else {
        owners[inbox.resolved] = inbox.pipeline.id
      }
    }
  }

  /// A file that is delivered into an inbox is taken from there: into its own pipeline's, or round over others, for ever.
  private mutating func checkLoops(_ inboxes: [Inbox]) {
    var numbers: [String: Int] = [:]
    for (number, inbox) in inboxes.enumerated() { numbers[inbox.resolved] = numbers[inbox.resolved] ?? number }
    // A file in an inbox is as good as the inbox.
    let follow = inboxes.map { inbox in
      inbox.pipeline.access.filter { $0.mode != .read }
        .compactMap { numbers[$0.resolved] ?? numbers[PathRules.parent(of: $0.resolved)] }
    }
    for start in inboxes.indices {
      var seen: Set<Int> = []
      var next = follow[start]
      while let number = next.popLast() {
        if seen.insert(number).inserted { next += follow[number] }
      }
      guard seen.contains(start) else { continue }
      let others = seen.subtracting([start]).sorted().map { "\"\(inboxes[$0].pipeline.id)\"" }
      problems.add(
        .configLoop,
        "what this pipeline delivers comes back into its own inbox \(quoted(inboxes[start].directory))"
          + (others.isEmpty ? "" : " through \(others.joined(separator: ", "))"),
        hint: "choose another folder for one of the two", at: inboxes[start].place?.range)
    }
  }
}
