// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// Why a target's value was not saved or found.
package enum TargetStateError: Error, Equatable, Sendable {
  /// Empty, longer than 255 bytes, or with a zero byte.
  case badKey
  case valueTooLong(limit: Int)
  /// All values of the pipeline together.
  case full(limit: Int64)
  case damaged(path: String)
  case notSaved(CommitError)
  case system(SystemError)

  package var message: String {
    switch self {
    case .badKey: "a key has 1 to 255 bytes, none of them zero"
    case .valueTooLong(let limit): "a value has at most \(limit) bytes"
    case .full(let limit): "the target has saved \(limit) bytes already; it must delete something first"
    case .damaged(let path): "\(path) was damaged while the program ran"
    case .notSaved(let error): error.message
    case .system(let error): error.message
    }
  }
}

/// What targets save, in the file `target-state`: records are appended, and the file is written anew when more than half
/// of it is dead. Values stay on the disk; memory holds keys. The file is open only while it is read or written.
package final class TargetState: Sendable {
  static let fileName = "target-state"
  package static let longestKey = 255
  /// In bytes.
  package static let longestValue = 64 * 1024
  /// Of all records that count, in bytes.
  package static let largest: Int64 = 16 << 20
  /// A file that is mostly dead is written anew, so it never gets much larger than twice that.
  static let largestFile = 2 * largest + smallFile + Int64(longestValue) + 1024
  static let magic = Array("RELAYTS1".utf8)
  /// Smaller files aren't written anew.
  static let smallFile: Int64 = 64 * 1024

  struct State {
    var index: TargetStateIndex
    /// Where the next record goes.
    var end: Int64
    /// A write or sync failed: what the file holds can't be trusted, so the next change writes it anew.
    var isSuspect = false
  }

  let folder: Directory
  let committer: Committer
  let state: Mutex<State>

  init(_ folder: Directory, _ committer: Committer, _ state: consuming State) {
    self.folder = folder
    self.committer = committer
    self.state = Mutex(state)
  }

  package func get(_ scope: TargetStateScope, _ key: [UInt8]) throws(TargetStateError) -> [UInt8]? {
    try state.withLock { (state: inout State) throws(TargetStateError) in
      guard let entry = state.index.find(scope, key) else { return nil }
      return try Self.read(entry, from: opened(writable: false)).value
    }
  }

  /// The first key behind `key`, in the order of bytes; an empty one starts.
  package func next(_ scope: TargetStateScope, after key: [UInt8]) -> [UInt8]? {
    state.withLock { $0.index.key(scope, after: key) }
  }

  /// Saves a value; on the disk when this returns.
  package func put(_ scope: TargetStateScope, _ key: [UInt8], _ value: [UInt8]) throws(TargetStateError) {
    guard (1...Self.longestKey).contains(key.count), !key.contains(0) else { throw .badKey }
    guard value.count <= Self.longestValue else { throw .valueTooLong(limit: Self.longestValue) }
    try append(TargetStateRecord(kind: .put, scope: scope, key: key, value: value))
  }

  /// Deletes a value; without effect when there is none.
  package func remove(_ scope: TargetStateScope, _ key: [UInt8]) throws(TargetStateError) {
    guard state.withLock({ $0.index.find(scope, key) }) != nil else { return }
    try append(TargetStateRecord(kind: .remove, scope: scope, key: key))
  }

  /// Deletes all of the delivery scope: its delivery has a final verdict.
  package func eraseDeliveryScope() throws(TargetStateError) {
    guard !state.withLock({ $0.index.all(.delivery).isEmpty }) else { return }
    try append(TargetStateRecord(kind: .eraseDelivery, scope: .delivery, key: []))
  }

  private func append(_ record: TargetStateRecord) throws(TargetStateError) {
    let bytes = record.bytes()
    try state.withLock { (state: inout State) throws(TargetStateError) in
      if record.kind == .put {
        let replaced = state.index.find(record.scope, record.key).map { Int64($0.length) } ?? 0
        guard state.index.liveBytes - replaced + Int64(bytes.count) <= Self.largest else {
          throw .full(limit: Self.largest)
        }
      }
      if state.isSuspect || (state.end > Self.smallFile && state.end > 2 * state.index.liveBytes) {
        try rewrite(&state)
      }
      let file = try opened(writable: true)
      do throws(SystemError) {
        try file.write(bytes, at: state.end)
      } catch {
        // A piece of it may stand behind the end, where the next start would take it for damage.
        do throws(SystemError) { try file.truncate(to: state.end) } catch { state.isSuspect = true }
        throw .system(error)
      }
      do throws(CommitError) {
        try committer.commit(CommitRequest(dataOnly: [file]))
      } catch {
        state.isSuspect = true
        throw .notSaved(error)
      }
      let entry = TargetStateIndex.Entry(key: record.key, offset: state.end, length: bytes.count)
      state.index.apply(record.kind, record.scope, entry)
      state.end += Int64(bytes.count)
    }
  }

  private func opened(writable: Bool) throws(TargetStateError) -> Descriptor {
    do { return try folder.openFile(Self.fileName, writable: writable) } catch { throw .system(error) }
  }

  /// Writes all that counts into a new file and puts it in the old one's place. After an error the old one stays.
  private func rewrite(_ state: inout State) throws(TargetStateError) {
    let temporary = ".\(Self.fileName).new"
    do throws(SystemError) {
      do { try folder.remove(temporary) } catch { guard error.code == ENOENT else { throw error } }
      let old = try folder.openFile(Self.fileName)
      let file = try folder.createFile(temporary)
      try file.write(Self.magic, at: 0)
      var index = TargetStateIndex()
      var end = Int64(Self.magic.count)
      for scope in TargetStateScope.allCases {
        for entry in state.index.all(scope) {
          let record: TargetStateRecord
          do throws(TargetStateError) {
            record = try Self.read(entry, from: old)
          } catch {
            throw SystemError(call: .read, code: EIO, subject: old.path)
          }
          let bytes = record.bytes()
          try file.write(bytes, at: end)
          index.apply(.put, scope, TargetStateIndex.Entry(key: entry.key, offset: end, length: bytes.count))
          end += Int64(bytes.count)
        }
      }
      try file.sync()
      try folder.rename(temporary, to: folder, as: Self.fileName)
      state = State(index: index, end: end, isSuspect: true)
      try folder.sync()
      state.isSuspect = false
    } catch {
      try? folder.remove(temporary)
      throw .system(error)
    }
  }

  private static func read(
    _ entry: TargetStateIndex.Entry, from file: Descriptor
  ) throws(TargetStateError) -> TargetStateRecord {
    let bytes: [UInt8]
    do { bytes = try file.bytes(at: entry.offset, count: entry.length) } catch { throw .system(error) }
    guard let record = TargetStateRecord(bytes[...]), record.key == entry.key else { throw .damaged(path: file.path) }
    return record
  }
}
