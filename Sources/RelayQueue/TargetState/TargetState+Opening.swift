// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem

extension TargetState {
  /// Opens a pipeline's target state, making the file where it is missing.
  ///
  /// The end of a record that a crash cut is cut off: that record was not confirmed. A file that is damaged elsewhere is set
  /// aside whole. An error means that it could not be read: it is left alone.
  package static func open(
    in folder: Directory, committer: Committer
  ) throws(SystemError) -> (state: TargetState, finding: FileFinding) {
    let file: Descriptor
    do {
      file = try folder.openFile(fileName, writable: true)
    } catch {
      guard error.code == ENOENT else { throw error }
      return (TargetState(folder, committer, try create(in: folder)), .missing)
    }
    let size = try file.status().size
    guard var found = try scan(file, size: size) else {
      let aside = try DamagedFile.setAside(fileName, in: folder)
      return (TargetState(folder, committer, try create(in: folder)), .setAside(aside))
    }
    guard found.end < size else { return (TargetState(folder, committer, found), .good) }
    try file.truncate(to: found.end)
    found.isSuspect = false
    return (TargetState(folder, committer, found), .mended(file.path))
  }

  /// Opens a copy, made in another folder, of what a pipeline's target has saved so far; an empty one where it has saved nothing.
  /// Whoever owns the original may go on writing it meanwhile.
  package static func copy(ofPipelineFolder path: String, into folder: Directory) throws(SystemError) -> TargetState {
    do {
      let saved = try Directory(path).content(of: fileName, limit: Int(largestFile))
      if let saved { try folder.replace(fileName, with: saved, durable: false) }
    } catch {
      // A pipeline that has never run has no folder.
      guard error.code == ENOENT else { throw error }
    }
    return try open(in: folder, committer: Committer(fileSystem: folder)).state
  }

  private static func create(in folder: Directory) throws(SystemError) -> State {
    try folder.replace(fileName, with: magic)
    return State(index: TargetStateIndex(), end: Int64(magic.count))
  }

  /// Walks through the records; nil when the file is damaged otherwise than by a cut end.
  private static func scan(_ file: Descriptor, size: Int64) throws(SystemError) -> State? {
    guard try file.bytes(at: 0, count: magic.count) == magic else { return nil }
    var state = State(index: TargetStateIndex(), end: Int64(magic.count))
    while state.end < size {
      let headBytes = try file.bytes(at: state.end, count: TargetStateRecord.headSize)
      guard let head = TargetStateRecord.Head(headBytes[...]) else {
        // A head that isn't whole, or blocks that never got their bytes, were the last write; anything else is damage.
        if headBytes.count < TargetStateRecord.headSize { return state }
        return try isZero(file, from: state.end, to: size) ? state : nil
      }
      let bytes = try file.bytes(at: state.end, count: head.length)
      if let record = TargetStateRecord(bytes[...]) {
        let entry = TargetStateIndex.Entry(key: record.key, offset: state.end, length: bytes.count)
        state.index.apply(record.kind, record.scope, entry)
        state.end += Int64(bytes.count)
      } else {
        return state.end + Int64(head.length) >= size ? state : nil
      }
    }
    return state
  }

  private static func isZero(_ file: Descriptor, from start: Int64, to end: Int64) throws(SystemError) -> Bool {
    var place = start
    while place < end {
      let bytes = try file.bytes(at: place, count: Int(min(64 * 1024, end - place)))
      guard !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) else { return false }
      place += Int64(bytes.count)
    }
    return true
  }
}

extension Descriptor {
  /// Up to `count` bytes from `offset`; fewer only at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 16)
    defer { room.deallocate() }
    let got = try read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(count)), at: offset)
    return Array(UnsafeRawBufferPointer(rebasing: room.prefix(got)))
  }
}
