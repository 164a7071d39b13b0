// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// How far a backup has come.
package struct BackupProgress: Equatable, Sendable {
  package var pipeline = ""
  package var artifacts = 0
  package var files = 0
  package var bytes: Int64 = 0
}

/// What a backup needs to know besides the state folder.
package struct BackupOptions: Sendable {
  package var program: String
  /// The bytes of `pipelines.json`.
  package var configuration: [UInt8]?
  package var withSecrets: Bool
  package var inbox: BackupInbox
  /// Called at the moment that a pipeline's copy shows, while its lock is held; for tests.
  package var atMoment: (@Sendable (String) -> Void)?

  package init(
    program: String, configuration: [UInt8]? = nil, withSecrets: Bool = false, inbox: BackupInbox = BackupInbox()
  ) {
    self.program = program
    self.configuration = configuration
    self.withSecrets = withSecrets
    self.inbox = inbox
  }
}

/// Copies a state folder while it is in use.
///
/// Of each pipeline the copy shows one moment after the backup began: first everything is copied while others go on, again
/// what is new until little is, and then, under the pipeline's lock, it is listed what there is, and the few new files are
/// opened. Nothing is copied under the lock, and nothing in the state folder is changed.
package enum Backup {
  /// Writes a backup into a folder that is empty, or that holds one which was cut short.
  ///
  /// - Parameters:
  ///   - state: opened as its owner or keeper.
  ///   - progress: told all the time; false ends the backup.
  package static func write(
    _ state: StateFolder, into folder: Directory, _ options: BackupOptions,
    progress: @escaping (BackupProgress) -> Bool = { _ in true }
  ) throws(BackupError) -> BackupManifest {
    let target = try BackupFolder(folder)
    do throws(BackupError) {
      return try BackupWriter(state: state, target: target, options: options, tell: progress).run()
    } catch {
      target.giveUp()
      throw error
    }
  }
}

final class BackupWriter {
  let state: StateFolder
  let target: BackupFolder
  let options: BackupOptions
  var progress = BackupProgress()
  private let tell: (BackupProgress) -> Bool
  private var list: BackupList

  /// A pipeline that was removed while it was copied, and began anew, is copied anew so often.
  private static let mostBeginnings = 5

  init(
    state: StateFolder, target: BackupFolder, options: BackupOptions, tell: @escaping (BackupProgress) -> Bool
  ) throws(BackupError) {
    self.tell = tell
    self.state = state
    self.target = target
    self.options = options
    list = try BackupList(creating: BackupFolder.list, in: target.root)
  }

  func run() throws(BackupError) -> BackupManifest {
    let created = WallTime.now
    let format: UInt64
    let ids: [String]
    do throws(StateError) {
      guard let version = try StateFormat.shipped.version(of: state.root) else {
        throw .unreadableFormat(path: state.path)
      }
      format = version
      ids = try state.pipelineIDsOnDisk()
    } catch {
      throw .state(error)
    }
    var pipelines: [BackupManifest.Pipeline] = []
    for id in ids { if let copied = try copyPipeline(id) { pipelines.append(copied) } }
    for name in ["templates"] + (options.withSecrets ? ["secrets", "certificates"] : []) { try copyFlat(name) }
    var configuration: BackupManifest.Content?
    if let bytes = options.configuration {
      let digest = try BackupSide.hashing { () throws(ArchiveError) in try SHA256Hasher.digest(of: bytes) }
      try BackupSide.destination { () throws(SystemError) in
        try target.root.replace(BackupFolder.configuration, with: bytes)
      }
      configuration = .init(size: Int64(bytes.count), sha256: digest)
    }
    let manifest = BackupManifest(
      program: options.program, format: format, created: created, hasSecrets: options.withSecrets,
      configuration: configuration, list: try list.finish(), pipelines: pipelines)
    try target.finish(manifest)
    return manifest
  }

  /// nil when it was removed meanwhile.
  private func copyPipeline(_ id: String) throws(BackupError) -> BackupManifest.Pipeline? {
    for _ in 0..<Self.mostBeginnings {
      guard let source = try open(id) else { return nil }
      let pipelines = try BackupSide.destination { () throws(SystemError) in try target.root.ensureFolder("pipelines") }
      progress.pipeline = id
      let before = progress
      let folder = try BackupSide.destination { () throws(SystemError) in try pipelines.ensureFolder(id) }
      let copy = try PipelineCopy(source, into: folder, self)
      if let found = try copy.run(list: &list) { return found }
      progress = before
      try BackupSide.destination { () throws(SystemError) in try pipelines.removeTree(id) }
    }
    throw .restless(pipeline: id)
  }

  /// nil when it isn't there any more, or was never made whole.
  private func open(_ id: String) throws(BackupError) -> PipelineFolder? {
    do throws(StateError) {
      // To open one as the owner makes what is missing, and one that was removed would come back.
      guard try state.pipelineIDsOnDisk().contains(id) else { return nil }
      return try state.pipeline(id)
    } catch {
      if case .system(let cause) = error, cause.isMissing { return nil }
      throw .state(error)
    }
  }

  /// The files of a folder that holds nothing else.
  private func copyFlat(_ name: String) throws(BackupError) {
    let source: Directory
    do { source = try state.root.folder(name) } catch {
      if error.isMissing { return }
      throw .source(error)
    }
    let folder = try BackupSide.destination { () throws(SystemError) in try target.root.ensureFolder(name) }
    let names = try BackupSide.source { () throws(SystemError) in try source.names() }
    for file in names where file.first != "." {
      guard let opened = try openFile(Array(file.utf8), in: source, leftOut: { _ in }) else { continue }
      try list.add(try copy(opened, to: folder, [name], Array(file.utf8)))
    }
  }

  /// A regular file; nil when it is gone or is none, which is told to `leftOut`.
  func openFile(
    _ name: [UInt8], in folder: Directory, leftOut: (String) -> Void
  ) throws(BackupError) -> Descriptor? {
    do {
      return try folder.openFile(raw: name)
    } catch {
      if error.isMissing { return nil }
      guard error.isNoFile else { throw .source(error) }
      leftOut(error.subject)
      return nil
    }
  }

  func copy(
    _ source: Descriptor, to folder: Directory, _ folders: [String], _ name: [UInt8], limit: Int64? = nil,
    modified: Int64? = nil
  ) throws(BackupError) -> BackupEntry {
    let file = try BackupSide.destination { () throws(SystemError) in try folder.createFile(raw: name) }
    let copied: (size: Int64, digest: Digest)
    do throws(FileCopy.Failure) {
      copied = try target.copy.run(from: source, to: file, limit: limit) { self.goesOn($0) }
    } catch {
      switch error {
      case .reading(let error): throw .source(error)
      case .writing(let error): throw .destination(error)
      case .hashUnavailable: throw .hashUnavailable
      case .stopped: throw .stopped
      }
    }
    if let modified { try BackupSide.destination { () throws(SystemError) in try file.setModified(modified) } }
    progress.files += 1
    guard goesOn(0) else { throw .stopped }
    return BackupEntry(
      folders: folders, name: name, size: copied.size, sha256: copied.digest, modified: modified)
  }

  /// Writes small bytes that are in memory.
  func write(
    _ bytes: [UInt8], to folder: Directory, _ folders: [String], _ name: String
  ) throws(BackupError) -> BackupEntry {
    let digest = try BackupSide.hashing { () throws(ArchiveError) in try SHA256Hasher.digest(of: bytes) }
    try BackupSide.destination { () throws(SystemError) in
      let file = try folder.createFile(name)
      try file.write(bytes)
      if target.syncsEach { try file.sync() }
    }
    progress.files += 1
    return BackupEntry(folders: folders, name: Array(name.utf8), size: Int64(bytes.count), sha256: digest)
  }

  private func goesOn(_ bytes: Int) -> Bool {
    progress.bytes += Int64(bytes)
    return tell(progress)
  }
}
