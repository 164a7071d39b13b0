// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

/// The copy of one pipeline while others go on with it: in rounds, until one moment of it has been caught.
final class PipelineCopy {
  enum Place: String, CaseIterable {
    case queue, refused, corrupt, ready, inbox
  }

  struct Key: Hashable {
    var place: Place
    var name: [UInt8]
    var text: String { String(decoding: name, as: UTF8.self) }
  }

  struct Copied {
    /// As the folder lists it: another one under the same name is another entry.
    var inode: UInt64
    /// Under which its files stand in the scratch list; nil when it was left out.
    var number: Int?
    /// Of an inbox file.
    var status: FileStatus?
    /// The inode of an artifact's manifest.
    var manifest: UInt64?
  }

  /// After so many rounds in which too much was new, it is given up.
  private static let mostRounds = 100

  let source: PipelineFolder
  let folder: Directory
  let writer: BackupWriter
  var copied: [Key: Copied] = [:]
  var scratch: ScratchList
  var leftOut: Set<String> = []
  /// Files of the inbox that were still being written, or can't be read, at the last look.
  var leftOutOfInbox: Set<String> = []
  private var lastNumber = 0
  private let places: [Place: Directory]
  private var targets: [Place: Directory] = [:]

  init(_ source: PipelineFolder, into folder: Directory, _ writer: BackupWriter) throws(BackupError) {
    self.source = source
    self.folder = folder
    self.writer = writer
    scratch = try ScratchList(in: writer.target.root)
    var places: [Place: Directory] = [:]
    for place in Place.allCases {
      do { places[place] = try source.subfolder(place.rawValue) } catch {
        // One that only the owner would make.
        guard error.isMissing, place != .queue else { throw .source(error) }
      }
    }
    self.places = places
  }

  /// Copies it; nil when the pipeline was removed meanwhile.
  func run(list: inout BackupList) throws(BackupError) -> BackupManifest.Pipeline? {
    do throws(BackupError) {
      for _ in 0..<Self.mostRounds {
        try round()
        switch try catchMoment() {
        case .caught(let moment): return try finish(moment, &list)
        case .removed: return nil
        case .tooMuch: continue
        }
      }
    } catch {
      guard case .source = error, !stands else { throw error }
      return nil
    }
    throw .restless(pipeline: source.id)
  }

  /// Whether the folder is still the pipeline's.
  var stands: Bool {
    guard let now = try? writer.state.root.folder("pipelines").status(of: source.id) else { return false }
    return (try? source.folder.descriptor.status())?.inode == now.inode
  }

  /// Copies what is listed and wasn't copied yet. What vanishes meanwhile is left to the next look.
  private func round() throws(BackupError) {
    for place in Place.allCases {
      let entries = try entries(of: place)
      let head = Self.head(of: entries, in: place)
      for (key, inode) in entries {
        if let known = copied[key] {
          guard known.inode != inode || hasChanged(key, known) || (key == head && wasBundled(key, known)) else {
            continue
          }
          try drop(key)
        }
        if place == .inbox { try copyInboxFile(key, inode) } else { try copyArtifact(key, inode) }
      }
    }
  }

  /// What lies in a place, without what is being written or deleted.
  func entries(of place: Place) throws(BackupError) -> [(key: Key, inode: UInt64)] {
    guard let folder = places[place] else { return [] }
    var found: [(key: Key, inode: UInt64)] = []
    let waits = writer.options.inbox.waits
    try BackupSide.source { () throws(SystemError) in
      try folder.forEachRawEntry { name, inode throws(SystemError) in
        if Self.belongs(name, in: place, waits) { found.append((Key(place: place, name: name), inode)) }
      }
    }
    return found
  }

  private static func belongs(_ name: [UInt8], in place: Place, _ waits: ([UInt8]) -> Bool) -> Bool {
    if place == .inbox { return waits(name) }
    guard let text = String(validating: name, as: UTF8.self) else { return false }
    return switch place {
    case .queue: SequenceName.parse(text) != nil
    case .refused, .corrupt: text.first?.isNumber == true && SequenceName.mentioned(in: text) != nil
    case .ready, .inbox: text.first != "."
    }
  }

  func place(_ place: Place) -> Directory? { places[place] }

  func target(_ place: Place) throws(BackupError) -> Directory {
    if let known = targets[place] { return known }
    let folder = folder
    let made = try BackupSide.destination { () throws(SystemError) in try folder.ensureFolder(place.rawValue) }
    targets[place] = made
    return made
  }

  /// Removes an entry from the copy.
  func drop(_ key: Key) throws(BackupError) {
    guard let known = copied.removeValue(forKey: key), known.number != nil else { return }
    if key.place != .inbox { writer.progress.artifacts -= 1 }
    let target = try target(key.place)
    try BackupSide.destination { () throws(SystemError) in
      if key.place == .inbox { try target.remove(raw: key.name) } else { try target.removeTree(key.text) }
    }
  }

  func folders(_ key: Key) -> [String] {
    let place = ["pipelines", source.id, key.place.rawValue]
    return key.place == .inbox ? place : place + [key.text]
  }

  func leaveOut(_ path: String) { if leftOut.count < 100 { leftOut.insert(path) } }

  // MARK: Artifacts

  private func copyArtifact(_ key: Key, _ inode: UInt64) throws(BackupError) {
    guard let opened = try openArtifact(key) else { return }
    guard let artifact = opened else {
      copied[key] = Copied(inode: inode)
      return
    }
    // Before the names: the bundle that it speaks of is among them then.
    let manifest = try writer.openFile(Self.manifestName, in: artifact, leftOut: leaveOut)
    let names = try BackupSide.source { () throws(SystemError) in try Self.names(in: artifact) }
    try writeArtifact(key, inode) { body throws(BackupError) in
      if let manifest { try body(Self.manifestName, manifest) }
      for name in names where name != Self.manifestName {
        guard let file = try writer.openFile(name, in: artifact, leftOut: leaveOut) else { continue }
        try body(name, file)
      }
    }
    copied[key]?.manifest = (try? manifest?.status())?.inode
  }

  /// nil when it is gone; nil in it when it is no folder, and so left out.
  func openArtifact(_ key: Key) throws(BackupError) -> Directory?? {
    guard let folder = places[key.place] else { return .none }
    do {
      return .some(try folder.folder(key.text))
    } catch {
      if error.isMissing { return .none }
      guard error.isNoFile || error.code == ENOTDIR else { throw .source(error) }
      leaveOut(error.subject)
      return .some(nil)
    }
  }

  /// The names in an artifact's folder; none when it has just been deleted.
  static func names(in artifact: Directory) throws(SystemError) -> [[UInt8]] {
    var names: [[UInt8]] = []
    do throws(SystemError) {
      // A file under a dot name is being written: it gets its own name when it is whole.
      try artifact.forEachRawName { name in if name.first != UInt8(ascii: ".") { names.append(name) } }
    } catch {
      guard error.isMissing else { throw error }
    }
    return names
  }

  /// Makes the entry's folder in the copy and lets `files` put files into it.
  func writeArtifact(
    _ key: Key, _ inode: UInt64,
    _ files: ((_ name: [UInt8], _ file: Descriptor) throws(BackupError) -> Void) throws(BackupError) -> Void
  ) throws(BackupError) {
    let parent = try target(key.place)
    let folder = try BackupSide.destination { () throws(SystemError) in
      try parent.makeFolder(key.text)
      return try parent.folder(key.text)
    }
    let number = nextNumber()
    // Known before its files are: what is cut short is dropped like any other.
    copied[key] = Copied(inode: inode, number: number)
    writer.progress.artifacts += 1
    let folders = folders(key)
    try files { name, file throws(BackupError) in
      try scratch.add(try writer.copy(file, to: folder, folders, name), of: number)
    }
  }

  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }
}

extension SystemError {
  /// Whether it says that something else than a regular file stands there.
  var isNoFile: Bool { call == .open && [ELOOP, EINVAL, ENXIO, EISDIR].contains(code) }
}
