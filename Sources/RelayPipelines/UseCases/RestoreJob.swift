// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem

/// Puts a backup back, and tells what a person has to know of it. Without a daemon only.
package struct RestoreJob: Sendable {
  private let backup: BackupReader
  private let state: String
  /// The bytes of the pipelines.json that will be used; nil where there is none yet.
  private let configuration: [UInt8]?

  package init(backup: BackupReader, state: String, configuration: [UInt8]?) {
    self.backup = backup
    self.state = state
    self.configuration = configuration
  }

  package func run(tell: @escaping (JSONNode) -> Bool) throws(Refusal) -> ControlReply {
    let start = BootTime.now
    try refuseBackupItself()
    let kept: [String]
    do throws(BackupError) {
      kept = try Restore.run(backup, into: state, progress: BackupJob.nowAndThen(tell))
    } catch {
      throw Refusal(error)
    }
    let took = BootTime.now.milliseconds(since: start)
    var result = BackupJob.result(backup.manifest, folder: backup.root.path, milliseconds: took)
    result.append("state", .text(state))
    result.append("kept", .array(kept.map { .text($0) }))
    let tree = (configuration ?? savedConfiguration).map { JSONTree.parseCollecting($0).0 } ?? nil
    result.append("missingSecrets", .array(missingSecrets(tree).map { .text($0) }))
    let known = Set((tree?["pipelines"]?.array ?? []).compactMap { $0["id"]?.string })
    let unknown = backup.manifest.pipelines.map(\.id).filter { tree != nil && !known.contains($0) }
    result.append("unconfigured", .array(unknown.map { .text($0) }))
    return ControlReply(result)
  }

  private var savedConfiguration: [UInt8]? { (try? backup.root.content(of: "pipelines.json")) ?? nil }

  /// A state folder in the backup would change it: the pipelines.json in it has its state folder beside itself.
  private func refuseBackupItself() throws(Refusal) {
    var path = state
    while !path.isEmpty {
      if let folder = try? Directory(path) {
        do throws(Refusal) { try BackupJob.refuseInside(folder, backup.root.path, "the backup itself") } catch {
          throw Refusal(
            .usage, .restoreNotEmpty, "The state folder \(state) would lie in the backup itself.",
            hint: "put its pipelines.json where it belongs and name that with --config, or name the folder with --state"
          )
        }
        return
      }
      guard let slash = path.lastIndex(of: "/") else { return }
      path = slash == path.startIndex && path != "/" ? "/" : String(path[..<slash])
    }
  }

  /// Names that the configuration mentions and that are found in none of the three places.
  private func missingSecrets(_ tree: JSONNode?) -> [String] {
    var names: Set<String> = []
    var nodes = [tree].compactMap { $0 }
    while let node = nodes.popLast() {
      if let members = node.object {
        if members.count == 1, members[0].name == "secret", let name = members[0].node.string { names.insert(name) }
        nodes += members.map(\.node)
      } else if let elements = node.array {
        nodes += elements
      }
    }
    let keeper = SecretKeeper(stateFolder: state, log: NoLog())
    return names.filter { (try? keeper.value($0)) == nil }.sorted()
  }
}
