// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// A list of files that is being written, line by line, and hashed on the way.
struct BackupList {
  private static let bufferSize = 64 * 1024

  private let file: Descriptor
  private let hasher: SHA256Hasher
  private var buffer: [UInt8] = []
  private var size: Int64 = 0

  init(creating name: String, in folder: Directory) throws(BackupError) {
    file = try BackupSide.destination { () throws(SystemError) in
      try folder.removeTree(name)
      return try folder.createFile(name)
    }
    hasher = try BackupSide.hashing { () throws(ArchiveError) in try SHA256Hasher() }
  }

  mutating func add(_ entry: BackupEntry) throws(BackupError) { try add(line: entry.line()) }

  mutating func add(line: [UInt8]) throws(BackupError) {
    buffer += line
    buffer.append(10)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  mutating func flush() throws(BackupError) {
    let bytes = buffer
    buffer = []
    size += Int64(bytes.count)
    let (file, hasher) = (file, hasher)
    try BackupSide.hashing { () throws(ArchiveError) in try hasher.update(bytes) }
    try BackupSide.destination { () throws(SystemError) in try file.write(bytes) }
  }

  /// On the disk when this returns.
  mutating func finish() throws(BackupError) -> BackupManifest.Content {
    try flush()
    let (file, hasher) = (file, hasher)
    try BackupSide.destination { () throws(SystemError) in try file.sync() }
    return .init(
      size: size, sha256: try BackupSide.hashing { () throws(ArchiveError) in try hasher.finish() })
  }
}

/// Lines that count only when the entry they belong to is still there at the end: each begins with its entry's number.
struct ScratchList {
  private let name: String
  private let folder: Directory
  private var list: BackupList

  init(in folder: Directory) throws(BackupError) {
    name = BackupFolder.scratch
    self.folder = folder
    list = try BackupList(creating: name, in: folder)
  }

  mutating func add(_ entry: BackupEntry, of number: Int) throws(BackupError) {
    try list.add(line: Array("\(number) ".utf8) + entry.line())
  }

  /// Hands over the lines of these entries.
  mutating func take(
    _ numbers: Set<Int>, _ body: (BackupEntry) throws(BackupError) -> Void
  ) throws(BackupError) {
    try list.flush()
    let (folder, name) = (folder, name)
    let file = try BackupSide.destination { () throws(SystemError) in try folder.openFile(name) }
    var lines = LineReader(file)
    while let line = try BackupSide.destination({ () throws(SystemError) in try lines.next() }) {
      let words = line.split(separator: 32, maxSplits: 1)
      guard words.count == 2, let number = Int(String(decoding: words[0], as: UTF8.self)),
        let entry = BackupEntry(line: Array(words[1]))
      else {
        throw .destination(SystemError(call: .read, code: 5, subject: file.path))
      }
      if numbers.contains(number) { try body(entry) }
    }
  }
}
