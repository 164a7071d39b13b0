// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Glibc
import TargetKit

/// Writes a file under a name of its own and gives it the final name once it is whole and on disk.
struct WholeFile {
  private static let mostNames = 10_000

  let kernel: Kernel
  let folder: Descriptor
  let name: FileName
  let delivery: Delivery
  let host: Host
  let keepsBoth: Bool

  func deliver() throws(Verdict) -> Verdict {
    let partial = name.partial(delivery.deliveryID)
    if keepsBoth, let earlier = try EarlierFile(self).find() {
      try calling(partial) { () throws(CallFailure) in
        try PartialFile.remove(partial, in: folder, kernel: kernel)
      }
      return try finished(earlier)
    }
    do throws(Verdict) {
      try write(partial)
      return try finished(keepsBoth ? publishBeside(partial) : publish(partial))
    } catch {
      // What is left is removed now if it can be, else by the next attempt.
      try? kernel.unlink(partial, in: folder)
      throw error
    }
  }

  private func write(_ partial: String) throws(Verdict) {
    var file = try calling(partial) { () throws(CallFailure) in
      try PartialFile(partial, in: folder, kernel: kernel)
    }
    var written: UInt64 = 0
    while let chunk = try delivery.source.next(upTo: 262_144) {
      try calling(partial) { () throws(CallFailure) in try file.write(chunk) }
      written += UInt64(chunk.count)
    }
    guard written == delivery.length else { throw .retry(.source, Words.damaged) }
    host.progress(written, of: delivery.length)
    try calling(partial) { () throws(CallFailure) in try file.finish() }
  }

  private func publish(_ partial: String) throws(Verdict) -> String {
    let final = name.numbered(1)
    try calling(final) { () throws(CallFailure) in try kernel.rename(partial, to: final, in: folder) }
    return final
  }

  /// Takes the first free name.
  ///
  /// Which file gets which name is noted beforehand, so that a later attempt finds it.
  private func publishBeside(_ partial: String) throws(Verdict) -> String {
    let facts = try calling(partial) { () throws(CallFailure) in try kernel.look(partial, in: folder) }
    guard let facts else { throw .retry(.receiver, "\(partial) was removed by someone else") }
    for number in 1...Self.mostNames {
      let candidate = name.numbered(number)
      let isTaken = try calling(candidate) { () throws(CallFailure) in try kernel.look(candidate, in: folder) != nil }
      if isTaken { continue }
      try EarlierFile(self).note(candidate, facts)
      let done = try calling(candidate) { () throws(CallFailure) in try take(candidate, for: partial) }
      if done { return candidate }
    }
    throw .needsAttention(.receiverFull, Words.manyNames)
  }

  /// False when the name was taken in the meantime.
  private func take(_ candidate: String, for partial: String) throws(CallFailure) -> Bool {
    do throws(CallFailure) {
      try kernel.renameNew(partial, to: candidate, in: folder)
      return true
    } catch {
      if error.code == EEXIST { return false }
      // Where a file system can't rename so (NFS, some FUSE), a link does it.
      guard error.code == EINVAL || error.code == ENOSYS else { throw error }
    }
    do throws(CallFailure) {
      try kernel.link(partial, to: candidate, in: folder)
    } catch {
      if error.code == EEXIST { return false }
      throw error
    }
    try kernel.unlink(partial, in: folder)
    return true
  }

  private func finished(_ final: String) throws(Verdict) -> Verdict {
    do throws(CallFailure) {
      try kernel.syncFolder(folder)
    } catch {
      throw ErrnoTable.verdict(on: error, subject: "the folder of \(final)", mayBeThere: true)
    }
    var verdict = Verdict.delivered(message: "saved as \(final)", receipt: final)
    verdict.bytesSent = delivery.length
    return verdict
  }
}

/// The file that an earlier attempt of the same delivery may have named already.
struct EarlierFile {
  private static let key = "file"
  private let file: WholeFile

  init(_ file: WholeFile) { self.file = file }

  func note(_ name: String, _ facts: FileFacts) throws(Verdict) {
    try file.host.state(.delivery).put(Self.key, "\(facts.device) \(facts.inode) \(name)")
  }

  /// Its name, if what stands there is the same file with the same bytes.
  func find() throws(Verdict) -> String? {
    let noted = try file.host.state(.delivery).get(Self.key).map { String(decoding: $0, as: UTF8.self) }
    guard let words = noted?.split(separator: " ", maxSplits: 2), words.count == 3 else { return nil }
    let name = String(words[2])
    let found = try calling(name) { () throws(CallFailure) in try file.kernel.look(name, in: file.folder) }
    guard let found, found.isRegular, "\(found.device)" == words[0], "\(found.inode)" == words[1],
      found.size == Int64(clamping: file.delivery.length)
    else { return nil }
    let open = try calling(name) { () throws(CallFailure) in try file.kernel.openToRead(name, in: file.folder) }
    let matched = try Comparison(kernel: file.kernel, file: open, subject: name).matching(file.delivery.source, from: 0)
    try file.delivery.source.rewind()
    return matched == file.delivery.length ? name : nil
  }
}

/// Compares a file with what is to be delivered.
struct Comparison {
  let kernel: Kernel
  let file: Descriptor
  let subject: String

  /// How many bytes from `offset` on equal the source's from its start; the source is then wherever it is.
  func matching(_ source: Source, from offset: Int64) throws(Verdict) -> UInt64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
    defer { buffer.deallocate() }
    var matched: UInt64 = 0
    while let chunk = try source.next(upTo: buffer.count) {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(chunk.count))
      let count = try calling(subject) { () throws(CallFailure) in
        try kernel.read(at: offset + Int64(matched), of: file, into: room)
      }
      let equal = zip(room.prefix(count), chunk).prefix { $0 == $1 }.count
      matched += UInt64(equal)
      if equal < chunk.count { break }
    }
    return matched
  }
}
