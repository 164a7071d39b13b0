// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// The file `marks`: four slots of one page each, written in turn and never the one that holds the newest record.
///
/// All its blocks are on the disk from the beginning, so a full disk can't stop a mark. The file is open only while a record is
/// written: ten thousand pipelines would need as many descriptors. After a failed write the record
/// may or may not come to light at the next start; what it says did happen, so both are right.
package final class Marks: Sendable {
  static let fileName = "marks"
  static let slots = MarkSlots.count
  static let size = slots * MarkRecord.slotSize

  /// nil for somebody who only looks.
  private let folder: Directory?
  private let committer: Committer
  private let state: Mutex<MarkSlots>

  private init(_ folder: Directory, _ committer: Committer, newest: (slot: Int, record: MarkRecord)?) {
    self.folder = folder
    self.committer = committer
    state = Mutex(MarkSlots(found: newest))
  }

  /// Marks to look at; every write fails.
  init(readOnly record: MarkRecord, _ committer: Committer) {
    folder = nil
    self.committer = committer
    state = Mutex(MarkSlots(found: (0, record)))
  }

  /// The newest record that is on the disk; an empty one in a new file.
  package var current: MarkRecord { state.withLock { $0.newest } }

  /// Writes a record and calls `then` when it is on the disk, or when that failed. The next write uses another slot.
  ///
  /// May wait for the disk. The callback runs on the thread that syncs, which may be this one.
  package func write(_ record: MarkRecord, then: @escaping @Sendable (Result<Void, CommitError>) -> Void) {
    let file: Descriptor
    do throws(SystemError) {
      guard let folder else { throw SystemError(call: .write, code: EBADF, subject: Self.fileName) }
      file = try folder.openFile(Self.fileName, writable: true)
    } catch {
      return then(.failure(.notSynced(error)))
    }
    guard let found = state.withLock({ $0.unconfirmed }) else { return write(record, file, then: then) }
    put(found.record, found.slot, file) { [self] result in
      guard case .success = result else { return then(result) }
      state.withLock { $0.confirm() }
      write(record, file, then: then)
    }
  }

  private func write(
    _ record: MarkRecord, _ file: Descriptor, then: @escaping @Sendable (Result<Void, CommitError>) -> Void
  ) {
    let slot: Int
    let numbered: MarkRecord
    do throws(SystemError) {
      (slot, numbered) = try begin(record, file)
    } catch {
      return then(.failure(.notSynced(error)))
    }
    put(numbered, slot, file) { [self] result in
      if case .success = result { end(slot, numbered) } else { end(slot, nil) }
      then(result)
    }
  }

  private func put(
    _ record: MarkRecord, _ slot: Int, _ file: Descriptor,
    then: @escaping @Sendable (Result<Void, CommitError>) -> Void
  ) {
    do throws(SystemError) {
      try file.write(record.encoded(), at: Int64(slot * MarkRecord.slotSize))
    } catch {
      return then(.failure(.notSynced(error)))
    }
    committer.commit(CommitRequest(dataOnly: [file]), mayWait: true) { result in then(result.map { _ in () }) }
  }

  /// Writes a record and waits until it is on the disk.
  package func write(_ record: MarkRecord) throws(CommitError) {
    let reply = Reply<Result<Void, CommitError>>()
    write(record) { reply.set($0) }
    try reply.wait().get()
  }

  private func begin(_ record: MarkRecord, _ file: Descriptor) throws(SystemError) -> (Int, MarkRecord) {
    guard record.pendingRemovals.count <= MarkRecord.mostPendingRemovals else {
      throw SystemError(call: .write, code: EINVAL, subject: file.path)
    }
    guard let taken = state.withLock({ $0.begin(record) }) else {
      throw SystemError(call: .write, code: EBUSY, subject: file.path)
    }
    return taken
  }

  private func end(_ slot: Int, _ written: MarkRecord?) { state.withLock { $0.end(slot, written) } }
}

extension Marks {
  /// Opens a pipeline's marks, making them where they are missing.
  ///
  /// Damaged slots are passed over. When none is left that can be decoded, the file is set aside and a new one begun.
  /// An error means that it could not be read: it is left alone.
  package static func open(
    in folder: Directory, committer: Committer
  ) throws(SystemError) -> (marks: Marks, finding: FileFinding) {
    let file: Descriptor
    do {
      file = try folder.openFile(fileName, writable: true)
    } catch {
      guard error.code == ENOENT else { throw error }
      try create(in: folder)
      return (Marks(folder, committer, newest: nil), .missing)
    }
    let bytes = try readSlots(of: file)
    let found = newest(in: bytes)
    if found != nil || (bytes.count == size && bytes.allSatisfy { $0 == 0 }) {
      if bytes.count < size {
        // Cut, but a record is left: put the missing blocks back, so that the reserve is whole again.
        try file.write([UInt8](repeating: 0, count: size - bytes.count), at: Int64(bytes.count))
        try file.sync()
        return (Marks(folder, committer, newest: found), .mended(file.path))
      }
      return (Marks(folder, committer, newest: found), .good)
    }
    let aside = try DamagedFile.setAside(fileName, in: folder)
    try create(in: folder)
    return (Marks(folder, committer, newest: nil), .setAside(aside))
  }

  /// The newest record of a file that nobody writes, without making or changing anything.
  static func read(in folder: Directory) throws(SystemError) -> MarkRecord {
    do {
      return newest(in: try readSlots(of: try folder.openFile(fileName)))?.record ?? MarkRecord()
    } catch {
      guard error.code == ENOENT else { throw error }
      return MarkRecord()
    }
  }

  private static func create(in folder: Directory) throws(SystemError) {
    try folder.replace(fileName, with: [UInt8](repeating: 0, count: size))
  }

  private static func readSlots(of file: Descriptor) throws(SystemError) -> [UInt8] {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { room.deallocate() }
    let got = try file.read(into: room, at: 0)
    return Array(UnsafeRawBufferPointer(rebasing: room[..<got]))
  }

  package static func newest(in bytes: [UInt8]) -> (slot: Int, record: MarkRecord)? {
    var found: (slot: Int, record: MarkRecord)?
    for slot in 0..<slots {
      let start = slot * MarkRecord.slotSize
      guard bytes.count >= start + MarkRecord.slotSize,
        let record = MarkRecord(slot: bytes[start..<(start + MarkRecord.slotSize)]),
        record.generation > found?.record.generation ?? 0
      else { continue }
      found = (slot, record)
    }
    return found
  }
}
