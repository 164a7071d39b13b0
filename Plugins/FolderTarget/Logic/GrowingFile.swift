// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Glibc
import TargetKit

/// Adds the lines of one delivery to the end of a file, once, even if an earlier attempt was cut off within them.
struct GrowingFile {
  private static let lockTries = 100
  private static let lockPause: Int32 = 100
  private static let openTries = 8

  let kernel: Kernel
  let folder: Descriptor
  let name: String
  let delivery: Delivery
  let host: Host

  func append() throws(Verdict) -> Verdict {
    let file = try openLocked()
    let facts = try call { () throws(CallFailure) in try kernel.look(file) }
    guard facts.isRegular else { throw .needsAttention(.settings, "\(name) \(Words.notAFile)") }
    if facts.size == 0 { kernel.admitReaders(to: file, of: folder) }
    var start = facts.size
    if let earlier = try AppendNote.read(host), earlier.device == facts.device, earlier.inode == facts.inode,
      earlier.offset <= facts.size
    {
      switch try state(of: earlier, in: file, size: facts.size) {
      case .whole: return try finished(file)
      case .torn:
        try call { () throws(CallFailure) in try kernel.truncate(file, to: earlier.offset) }
        start = earlier.offset
      case .foreign: break
      }
    }
    if delivery.length > 0 { try add(to: file, at: start, facts) }
    return try finished(file)
  }

  private enum Earlier { case whole, torn, foreign }

  /// What became of the lines that an earlier attempt began to write.
  private func state(of earlier: AppendNote, in file: Descriptor, size: Int64) throws(Verdict) -> Earlier {
    let start = earlier.offset + (earlier.separated ? 1 : 0)
    if size <= start { return .torn }
    let matched = try Comparison(kernel: kernel, file: file, subject: name).matching(delivery.source, from: start)
    try delivery.source.rewind()
    let end = start + Int64(clamping: matched)
    if matched == delivery.length {
      if size == end { try endLine(file, at: end) }
      return .whole
    }
    return end == size ? .torn : .foreign
  }

  private func add(to file: Descriptor, at start: Int64, _ facts: FileFacts) throws(Verdict) {
    var separated = false
    if start > 0 { separated = try lastByte(of: file, end: start) != UInt8(ascii: "\n") }
    try AppendNote(device: facts.device, inode: facts.inode, offset: start, separated: separated).write(host)
    do throws(Verdict) {
      if separated { try write([UInt8(ascii: "\n")], to: file) }
      var written: UInt64 = 0
      var last: UInt8 = 0
      while let chunk = try delivery.source.next(upTo: 262_144) {
        try write(chunk, to: file)
        written += UInt64(chunk.count)
        last = chunk.last ?? last
      }
      guard written == delivery.length else { throw .retry(.source, Words.damaged) }
      if last != UInt8(ascii: "\n") { try write([UInt8(ascii: "\n")], to: file) }
      host.progress(written, of: delivery.length)
      try call { () throws(CallFailure) in try kernel.sync(file) }
    } catch {
      // Under the lock nothing of others stands behind ours. If this fails too, the note lets the next attempt do it.
      try? kernel.truncate(file, to: start)
      throw error
    }
  }

  private func endLine(_ file: Descriptor, at end: Int64) throws(Verdict) {
    guard end > 0, try lastByte(of: file, end: end) != UInt8(ascii: "\n") else { return }
    try write([UInt8(ascii: "\n")], to: file)
  }

  private func finished(_ file: Descriptor) throws(Verdict) -> Verdict {
    try call { () throws(CallFailure) in
      try kernel.sync(file)
      try kernel.close(file)
      try kernel.syncFolder(folder)
    }
    var verdict = Verdict.delivered(message: "appended to \(name)", receipt: name)
    verdict.bytesSent = delivery.length
    return verdict
  }

  /// The file under its lock; opened anew if it was moved away (by logrotate, say) before the lock was there.
  private func openLocked() throws(Verdict) -> Descriptor {
    for _ in 0..<Self.openTries {
      let file = try call { () throws(CallFailure) in try kernel.openToAppend(name, in: folder) }
      try waitForLock(of: file)
      let opened = try call { () throws(CallFailure) in try kernel.look(file) }
      let named = try call { () throws(CallFailure) in try kernel.look(name, in: folder) }
      if named?.inode == opened.inode, named?.device == opened.device { return file }
    }
    throw .retry(.receiver, "\(Words.moving) \(name)")
  }

  private func waitForLock(of file: Descriptor) throws(Verdict) {
    for _ in 0..<Self.lockTries {
      do throws(CallFailure) {
        return try kernel.lock(file)
      } catch {
        guard error.code == EWOULDBLOCK else { throw ErrnoTable.verdict(on: error, subject: name) }
      }
      if host.shouldStop { throw .cancelled }
      var cancel = pollfd(fd: delivery.cancelDescriptor, events: Int16(POLLIN), revents: 0)
      poll(&cancel, 1, Self.lockPause)
    }
    throw .retry(.receiver, "\(Words.locked) \(name)")
  }

  private func lastByte(of file: Descriptor, end: Int64) throws(Verdict) -> UInt8 {
    let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { byte.deallocate() }
    _ = try call { () throws(CallFailure) in try kernel.read(at: end - 1, of: file, into: byte) }
    return byte[0]
  }

  private func write(_ bytes: [UInt8], to file: Descriptor) throws(Verdict) {
    var failure: CallFailure?
    bytes.withUnsafeBytes { buffer in
      do throws(CallFailure) {
        try kernel.write(buffer, to: file)
      } catch {
        failure = error
      }
    }
    if let failure { throw ErrnoTable.verdict(on: failure, subject: name) }
  }

  private func call<Value>(_ body: () throws(CallFailure) -> Value) throws(Verdict) -> Value {
    try calling(name, body)
  }
}

/// Where this delivery's lines begin; on disk before the first of them is written.
struct AppendNote: Equatable {
  private static let key = "append"
  let device: UInt64
  let inode: UInt64
  let offset: Int64
  /// A line break was put before them, because the file did not end with one.
  let separated: Bool

  func write(_ host: Host) throws(Verdict) {
    try host.state(.delivery).put(Self.key, "\(device) \(inode) \(offset) \(separated ? 1 : 0)")
  }

  static func read(_ host: Host) throws(Verdict) -> AppendNote? {
    let words = try host.state(.delivery).get(key).map { String(decoding: $0, as: UTF8.self) }?.split(separator: " ")
    guard let words, words.count == 4, let device = UInt64(words[0]), let inode = UInt64(words[1]),
      let offset = Int64(words[2]), offset >= 0
    else { return nil }
    return AppendNote(device: device, inode: inode, offset: offset, separated: words[3] == "1")
  }
}
