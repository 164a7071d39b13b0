// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// What a pipeline held at one moment, looked at under its lock.
struct PipelineMoment: Sendable {
  /// Of each entry, by name: what the copy has to hold.
  var listed: [PipelineCopy.Key: UInt64] = [:]
  /// Entries that weren't copied yet, with their files open: they can be read even when they are gone again.
  var fresh: [(key: PipelineCopy.Key, inode: UInt64, files: [(name: [UInt8], file: Descriptor)])] = []
  /// Files in the pipeline's own folder, up to the size they had.
  var small: [(name: [UInt8], file: Descriptor, size: Int64)] = []
  var marks: [UInt8]?
  var taking: (what: BackupInbox.Taking, file: Descriptor)?
}

extension PipelineCopy {
  enum Look: Sendable {
    case caught(PipelineMoment)
    /// Too many files are new to be held open at once: they are copied first.
    case tooMuch
    case removed
  }

  /// So many files are held open for the rest.
  private static let mostOpenFiles = 400

  /// Looks at everything while no artifact can come, go or change its place. Only names are read, and few files opened:
  /// whoever waits for the lock waits for that alone.
  func catchMoment() throws(BackupError) -> Look {
    let result = source.books.withLock { _ in
      Result { () throws(BackupError) in try look() }
    }
    return try result.get()
  }

  private func look() throws(BackupError) -> Look {
    var moment = PipelineMoment()
    var open = 0
    leftOutOfInbox = []
    do throws(BackupError) {
      for place in Place.allCases {
        let entries = try entries(of: place)
        let head = Self.head(of: entries, in: place)
        for (key, inode) in entries {
          moment.listed[key] = inode
          if let known = copied[key], known.inode == inode, key != head || !wasBundled(key, known) { continue }
          guard let files = try openFresh(key) else { continue }
          open += files.count
          guard open <= Self.mostOpenFiles else { return .tooMuch }
          moment.fresh.append((key, inode, files))
        }
      }
      try lookAtOwnFiles(&moment)
    } catch {
      // Out of descriptors: with fewer new files it goes.
      if case .source(let cause) = error, cause.code == EMFILE || cause.code == ENFILE { return .tooMuch }
      throw error
    }
    guard stands else { return .removed }
    writer.options.atMoment?(source.id)
    return .caught(moment)
  }

  /// nil for what is left out.
  private func openFresh(_ key: Key) throws(BackupError) -> [(name: [UInt8], file: Descriptor)]? {
    guard let folder = place(key.place) else { return nil }
    if key.place == .inbox {
      guard let file = openInboxFile(key.name, in: folder) else {
        if let status = try? folder.status(ofRaw: key.name), status.kind != .folder {
          leftOutOfInbox.insert(folder.path + "/" + key.text)
        }
        return nil
      }
      return [(key.name, file)]
    }
    guard let opened = try openArtifact(key), let artifact = opened else { return nil }
    var files: [(name: [UInt8], file: Descriptor)] = []
    if let manifest = try writer.openFile(Self.manifestName, in: artifact, leftOut: leaveOut) {
      files.append((Self.manifestName, manifest))
    }
    for name in try BackupSide.source({ () throws(SystemError) in try Self.names(in: artifact) })
    where name != Self.manifestName {
      // Enough to be too much; the rest needn't be opened.
      guard files.count <= Self.mostOpenFiles else { break }
      if let file = try writer.openFile(name, in: artifact, leftOut: leaveOut) { files.append((name, file)) }
    }
    return files
  }

  /// Marks, state, log and whatever else lies in the pipeline's folder itself.
  private func lookAtOwnFiles(_ moment: inout PipelineMoment) throws(BackupError) {
    let inbox = writer.options.inbox
    let folder = source.folder
    var names: [[UInt8]] = []
    try BackupSide.source { () throws(SystemError) in
      try folder.forEachRawName { name in if name.first != UInt8(ascii: ".") { names.append(name) } }
      moment.marks = try folder.content(of: Marks.fileName, limit: 1 << 20)
      // Somebody deleted the file while the daemon holds it open.
      if moment.marks == nil, source.marks.current.generation > 0 {
        let record = source.marks.current.encoded()
        moment.marks = record + [UInt8](repeating: 0, count: Marks.size - record.count)
      }
      if let taking = try inbox.taking(source), let place = place(.inbox) {
        do throws(SystemError) { moment.taking = (taking, try place.openFile(raw: taking.file)) } catch {
          guard error.isMissing || error.isNoFile else { throw error }
        }
      }
    }
    // What is being taken from the inbox is brought to its end by the backup itself.
    let passedOver = Set([Marks.fileName, "inbox-taking"].map { Array($0.utf8) })
    for name in names where !passedOver.contains(name) {
      guard let status = try? folder.status(ofRaw: name), status.kind == .file else { continue }
      guard let file = try writer.openFile(name, in: folder, leftOut: leaveOut) else { continue }
      let size = try BackupSide.source { () throws(SystemError) in try file.status().size }
      moment.small.append((name, file, size))
    }
  }
}
