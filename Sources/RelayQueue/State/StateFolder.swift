// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// The folder that holds everything the program must not forget, locked for this process.
package final class StateFolder: Sendable {
  package enum Access: Sendable {
    /// Takes the lock and makes what is missing: the daemon, or a command while no daemon runs.
    case owner
    /// Looks only: no lock, nothing is made or changed.
    case observer
    /// Looks only, and holds the lock, so that nobody else changes anything meanwhile.
    case keeper
  }

  package let root: Directory
  package let access: Access
  /// Of the file system that holds this folder.
  package let committer: Committer
  private let device: UInt64
  /// Of other file systems, where a person has mounted one on a pipeline's folder: syncing ours would not sync theirs.
  private let otherCommitters: Mutex<[UInt64: Committer]> = Mutex([:])
  private let lock: StateLock?
  /// Those in use. Held weakly: a pipeline that left the configuration must not keep its descriptors.
  private let pipelines = Mutex<[String: Weak]>([:])
  /// A pipeline is opened once, whoever asks meanwhile waits; several may share a gate.
  private let gates = (0..<64).map { _ in Gate() }

  private struct Weak: Sendable {
    weak let folder: PipelineFolder?
  }

  private final class Gate: Sendable {
    let mutex = Mutex(())
  }

  package var path: String { root.path }

  /// Opens the folder, as its owner making it where it is missing.
  package static func open(
    _ path: String, access: Access = .owner, format: StateFormat = .shipped
  ) throws(StateError) -> StateFolder {
    switch access {
    case .observer, .keeper:
      let root = try asState { () throws(SystemError) in try Directory(path) }
      var found = try format.version(of: root)
      var lock: StateLock?
      if access == .keeper {
        // One that nobody has begun holds nothing to keep.
        let missing = SystemError(call: .open, code: ENOENT, subject: root.path + "/" + StateFormat.fileName)
        guard found != nil else { throw .system(missing) }
        lock = try StateLock.take(in: root)
        found = try format.version(of: root)
      }
      if let found, found < format.current {
        throw .olderFormat(path: root.path, found: found, known: format.current)
      }
      return try StateFolder(root, access, lock: lock)
    case .owner:
      let root = try asState { () throws(SystemError) in try Directory.ensure(path) }
      // Looked at before the lock's file is made: a newer folder, or a foreign one, isn't touched at all.
      _ = try format.version(of: root)
      let lock = try StateLock.take(in: root)
      let version = try format.version(of: root)
      try format.bringUp(root, from: version)
      if version != nil { Restore.forgetMarker(in: root) }
      for name in ["targets", "secrets", "templates", "certificates", "pipelines"] {
        let folder = try asState { () throws(SystemError) in try root.ensureFolder(name) }
        // ext4 passes over each inode that was deleted within the last minute before it gives a new one, for all
        // pipelines that share a group of inodes: queues that come and go fast make each other slow there.
        if name == "pipelines" { folder.spreadSubfolders() }
      }
      try asState { () throws(SystemError) in try finishRemovals(in: try root.folder("pipelines")) }
      return try StateFolder(root, access, lock: lock)
    }
  }

  private init(_ root: Directory, _ access: Access, lock: StateLock?) throws(StateError) {
    self.root = root
    self.access = access
    self.lock = lock
    do throws(SystemError) {
      device = try root.descriptor.status().device
      committer = try Committer(fileSystem: root)
    } catch {
      throw .system(error)
    }
  }

  /// The committer of the file system that a pipeline's folder is on.
  private func committer(for id: String, in parent: Directory) throws(SystemError) -> Committer {
    let folder = try access == .owner ? parent.ensureFolder(id) : parent.folder(id)
    let device = try folder.descriptor.status().device
    if device == self.device { return committer }
    return try otherCommitters.withLock { (others: inout [UInt64: Committer]) throws(SystemError) -> Committer in
      if let known = others[device] { return known }
      let new = try Committer(fileSystem: folder)
      others[device] = new
      return new
    }
  }
}

extension StateFolder {
  package var targets: Directory { get throws(StateError) { try folder("targets") } }
  package var secrets: Directory { get throws(StateError) { try folder("secrets") } }
  package var templates: Directory { get throws(StateError) { try folder("templates") } }
  package var certificates: Directory { get throws(StateError) { try folder("certificates") } }

  private func folder(_ name: String) throws(StateError) -> Directory {
    try asState { () throws(SystemError) in try root.folder(name) }
  }

  /// Held while a pipeline's folder is made, opened or taken away.
  private func gate(of id: String) -> Gate {
    gates[Int(UInt(bitPattern: id.hashValue) % UInt(gates.count))]
  }

  /// A pipeline's folder, the same object for the same id as long as anybody uses it; as owner, made where it is missing.
  package func pipeline(_ id: String) throws(StateError) -> PipelineFolder {
    guard Self.isPipelineID(id) else { throw .badPipelineID(id) }
    if let known = pipelines.withLock({ $0[id]?.folder }) { return known }
    return try gate(of: id).mutex.withLock { _ throws(StateError) -> PipelineFolder in
      if let known = pipelines.withLock({ $0[id]?.folder }) { return known }
      let parent = try folder("pipelines")
      let committer = try asState { () throws(SystemError) in try self.committer(for: id, in: parent) }
      let opened = try PipelineFolder(id: id, in: parent, committer: committer, makes: access == .owner)
      pipelines.withLock { known in
        known[id] = Weak(folder: opened)
        if known.count > 64 && known.count & (known.count - 1) == 0 { known = known.filter { $0.value.folder != nil } }
      }
      return opened
    }
  }

  /// Folders of pipelines, in the config or not, sorted.
  package func pipelineIDsOnDisk() throws(StateError) -> [String] {
    let parent = try folder("pipelines")
    return try asState { () throws(SystemError) -> [String] in
      var found: [String] = []
      for name in try parent.names() where Self.isPipelineID(name) {
        if try parent.status(of: name)?.kind == .folder { found.append(name) }
      }
      return found
    }
  }

  /// Deletes a pipeline's folder with all that is in it, because a person said so; once more has no effect. Nothing of it
  /// may be in use. Gone for good on return: files that could not be deleted are left to the next start.
  package func removePipeline(_ id: String) throws(StateError) {
    guard Self.isPipelineID(id) else { throw .badPipelineID(id) }
    let parent = try folder("pipelines")
    // Out of sight in one step first: a crash leaves no half of a pipeline behind.
    let trash = SequenceName.trashPrefix + Identifier.random().description
    try gate(of: id).mutex.withLock { _ throws(StateError) in
      try asState { () throws(SystemError) -> Void in
        do throws(SystemError) { try parent.rename(id, to: parent, as: trash, exclusive: true) } catch {
          guard error.isMissing else { throw error }
        }
        try parent.sync()
      }
      pipelines.withLock { $0[id] = nil }
    }
    try? parent.removeTree(trash)
  }

  private static func finishRemovals(in pipelines: Directory) throws(SystemError) {
    for name in try pipelines.names() where name.hasPrefix(SequenceName.trashPrefix) {
      try? pipelines.removeTree(name)
    }
  }

  /// `[a-z0-9][a-z0-9-]{0,62}`, so that an id is a safe folder name.
  package static func isPipelineID(_ id: String) -> Bool {
    let bytes = Array(id.utf8)
    guard let first = bytes.first, bytes.count <= 63, first != UInt8(ascii: "-") else { return false }
    return bytes.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || $0 == UInt8(ascii: "-")
    }
  }
}
