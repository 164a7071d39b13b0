// SPDX-License-Identifier: Apache-2.0
import RelayConfig
import RelayJSON
import RelayQueue
import RelaySystem
import Synchronization

/// Writes a backup, the same whether the daemon does it or a command does it alone.
package struct BackupJob: Sendable {
  private let state: StateFolder
  private let file: ConfigurationFile
  /// Inboxes outside of the state folder.
  private let inboxes: [String]

  package init(state: StateFolder, file: ConfigurationFile, inboxes: [String]) {
    self.state = state
    self.file = file
    self.inboxes = inboxes
  }

  /// - Parameter tell: told now and then how far it has come; false when nobody waits for it any more.
  package func run(
    into folder: Directory, withSecrets: Bool, isDaemon: Bool, tell: @escaping (JSONNode) -> Bool
  ) throws(Refusal) -> ControlReply {
    let start = BootTime.now
    try Self.refuseInside(folder, state.path, "the state folder")
    for inbox in inboxes { try Self.refuseInside(folder, inbox, "the inbox \(inbox)") }
    let options = BackupOptions(
      program: UseCases.version, configuration: try file.bytes(), withSecrets: withSecrets, inbox: .ofDaemon)
    let manifest: BackupManifest
    do throws(BackupError) {
      manifest = try Backup.write(state, into: folder, options, progress: Self.nowAndThen(tell))
    } catch {
      throw Refusal(error)
    }
    let took = BootTime.now.milliseconds(since: start)
    return ControlReply(Self.result(manifest, folder: folder.path, milliseconds: took, isDaemon: isDaemon))
  }

  /// The work tells of every piece; whoever waits is told twice a second.
  package static func nowAndThen(_ tell: @escaping (JSONNode) -> Bool) -> (BackupProgress) -> Bool {
    var next = BootTime.now.advanced(milliseconds: 500)
    return { progress in
      guard BootTime.now >= next else { return true }
      next = BootTime.now.advanced(milliseconds: 500)
      return tell(
        .object([
          "pipeline": .text(progress.pipeline), "artifacts": .integer(progress.artifacts),
          "files": .integer(progress.files), "bytes": .integer(progress.bytes),
        ]))
    }
  }

  /// A folder in the state folder or in an inbox would become a part of what is backed up, or be taken for files to
  /// deliver. Looked at by what the folders are, not by what they are called.
  package static func refuseInside(_ folder: Directory, _ path: String, _ what: String) throws(Refusal) {
    guard let place = try? Directory(path).descriptor.status(), isInside(folder, place) else { return }
    throw Refusal(
      .usage, .backupBadFolder, "\(folder.path) lies in \(what).", hint: "name a folder elsewhere, best on another disk"
    )
  }

  private static func isInside(_ folder: Directory, _ place: FileStatus) -> Bool {
    var folder = folder
    for _ in 0..<256 {
      guard let now = try? folder.descriptor.status() else { return false }
      if (now.device, now.inode) == (place.device, place.inode) { return true }
      // Where this user can't look, nothing of ours is.
      guard let parent = try? folder.parent(), let above = try? parent.descriptor.status(),
        (above.device, above.inode) != (now.device, now.inode)
      else { return false }
      folder = parent
    }
    return false
  }

  /// What a backup holds, as commands print it.
  package static func result(
    _ manifest: BackupManifest, folder: String, milliseconds: Int64, isDaemon: Bool? = nil
  ) -> JSONNode {
    var node = JSONNode.object([
      "folder": .text(folder), "created": .time(manifest.created), "program": .text(manifest.program),
      "format": .integer(manifest.format), "artifacts": .integer(manifest.artifacts),
      "files": .integer(manifest.pipelines.reduce(0) { $0 + $1.files }), "bytes": .integer(manifest.bytes),
      "secrets": .flag(manifest.hasSecrets), "seconds": seconds(milliseconds),
      "pipelines": .array(
        manifest.pipelines.map { pipeline in
          .object([
            "id": .text(pipeline.id), "queued": .integer(pipeline.queued), "refused": .integer(pipeline.refused),
            "corrupt": .integer(pipeline.corrupt), "inbox": .integer(pipeline.inbox),
            "files": .integer(pipeline.files), "bytes": .integer(pipeline.bytes),
            "leftOut": .array(pipeline.leftOut.map { .text($0) }),
          ])
        }),
    ])
    if let isDaemon { node.append("daemon", .flag(isDaemon)) }
    return node
  }

  private static func seconds(_ milliseconds: Int64) -> JSONNode {
    let rest = String(milliseconds % 1000)
    let zeros = String(repeating: "0", count: max(0, 3 - rest.count))
    return JSONNode(.number(JSONNumber(text: "\(milliseconds / 1000).\(zeros)\(rest)")))
  }
}

extension UseCases {
  /// Writes a backup into the folder that was handed over.
  func backup(
    _ path: String, _ withSecrets: Bool, _ nextFile: () throws(Refusal) -> Descriptor,
    _ tell: @escaping (JSONNode) -> Bool
  ) throws(Refusal) -> ControlReply {
    let handedOver = try nextFile()
    let folder: Directory
    do { folder = try Directory(handedOver: handedOver, path: path) } catch {
      throw Refusal(BackupError.destination(error))
    }
    let inboxes = context.configuration.pipelines.compactMap { pipeline in
      if case .inbox(let directory) = pipeline.extract { directory } else { nil }
    }
    let file = ConfigurationFile(path: context.configuration.file)
    return try BackupJob(state: context.state, file: file, inboxes: inboxes).run(
      into: folder, withSecrets: withSecrets, isDaemon: context.engine != nil, tell: tell)
  }
}
