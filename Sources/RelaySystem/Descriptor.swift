// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// An open descriptor that closes itself when nobody holds it any more.
package final class Descriptor: Sendable {
  /// The number; valid as long as this object lives.
  package let number: Int32
  /// What it is about, for messages and for faults in tests.
  package let path: String

  package init(owning number: Int32, path: String) {
    self.number = number
    self.path = path
  }

  deinit { Glibc.close(number) }

  /// Opens for reading what a person named, in any bytes, following links. Never waits on a FIFO.
  package static func open(named path: [CChar]) throws(SystemError) -> Descriptor {
    // The terminating zero is put here, so that no name can be read beyond its end.
    let bytes = Array(path.prefix { $0 != 0 }) + [0]
    let text = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let number = try invoke(.open, on: text) {
      Int(relay_open_at(AT_FDCWD, bytes, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0))
    }
    return Descriptor(owning: Int32(number), path: text)
  }

  /// Names what a path leads to, following links: nothing can be read or written through it.
  package static func naming(_ path: String) throws(SystemError) -> Descriptor {
    Descriptor(owning: Int32(try invoke(.open, on: path) { Int(relay_open_path(path)) }), path: path)
  }

  /// Where what is open lies, with all links resolved.
  package func place() throws(SystemError) -> String {
    var room = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = try invoke(.status, on: path) { readlink("/proc/self/fd/\(number)", &room, room.count) }
    return String(decoding: room.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A second descriptor of this process's standard input.
  package static func ofStandardInput() throws(SystemError) -> Descriptor {
    Descriptor(
      owning: Int32(try invoke(.open, on: "standard input") { Int(fcntl(0, F_DUPFD_CLOEXEC, 3)) }),
      path: "standard input")
  }

  /// A second descriptor of the same open file: both share one offset.
  package func duplicate() throws(SystemError) -> Descriptor {
    let copy = try invoke(.open, on: path) { Int(fcntl(number, F_DUPFD_CLOEXEC, 3)) }
    return Descriptor(owning: Int32(copy), path: path)
  }

  package func setNonBlocking() throws(SystemError) {
    let flags = try invoke(.status, on: path) { Int(fcntl(number, F_GETFL)) }
    try invoke(.status, on: path) { Int(fcntl(number, F_SETFL, Int32(flags) | O_NONBLOCK)) }
  }

  /// What the kernel knows of the open file.
  package func status() throws(SystemError) -> FileStatus {
    var raw = stat()
    try invoke(.status, on: path) { Int(fstat(number, &raw)) }
    return FileStatus(raw)
  }

  /// Takes the file's advisory lock (flock) for as long as the open file lives; false when somebody else holds it.
  package func lock(exclusive: Bool = true, wait: Bool = false) throws(SystemError) -> Bool {
    let kind = (exclusive ? LOCK_EX : LOCK_SH) | (wait ? 0 : LOCK_NB)
    do {
      try invoke(.lock, on: path) { Int(flock(number, kind)) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  /// As `lock`, trying for half a second: a child that is just being started holds copies of its parent's descriptors,
  /// and so a lock that the parent has given up, for a moment longer.
  package func lockPatiently() throws(SystemError) -> Bool {
    for _ in 0..<50 {
      if try lock() { return true }
      _ = poll(nil, 0, 10)
    }
    return false
  }
}

extension Descriptor {
  /// One read at the current offset; 0 is the end, nil means that nothing is there yet (non-blocking).
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    var room = buffer.count
    if case .short(let most)? = FaultDoor.effect(on: .read, path) { room = min(room, most) }
    do {
      return try invoke(.read, on: path) { Glibc.read(number, buffer.baseAddress, room) }
    } catch {
      if error.code == EAGAIN { return nil }
      throw error
    }
  }

  /// Up to `buffer.count` bytes from `offset`; fewer only at the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let start = offset &+ Int64(filled)
      let got = try invoke(.read, on: path) { pread(number, rest.baseAddress, rest.count, off_t(start)) }
      if got == 0 { break }
      filled += got
    }
    return filled
  }

  /// The whole file, when it is no longer than `limit` bytes; else an error with EFBIG.
  package func readAll(limit: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let start = Int64(bytes.count)
      let outcome = chunk.withUnsafeMutableBytes { room in
        Result { () throws(SystemError) in try read(into: room, at: start) }
      }
      let got = try outcome.get()
      bytes.append(contentsOf: chunk.prefix(got))
      if bytes.count > limit { throw SystemError(call: .read, code: EFBIG, subject: path) }
      if got < chunk.count { return bytes }
    }
  }

  /// Where the shared offset stands: how far a worker that reads this open file has come.
  package func offset() throws(SystemError) -> Int64 {
    Int64(try invoke(.seek, on: path) { Int(lseek(number, 0, SEEK_CUR)) })
  }

  package func seek(to offset: Int64) throws(SystemError) {
    try invoke(.seek, on: path) { Int(lseek(number, off_t(offset), SEEK_SET)) }
  }
}

extension Descriptor {
  /// Writes all of the bytes at the current offset, however many calls that takes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      var rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      if case .short(let most)? = FaultDoor.effect(on: .write, path) {
        rest = UnsafeRawBufferPointer(rebasing: rest.prefix(max(1, most)))
      }
      sent += try invoke(.write, on: path) { Glibc.write(number, rest.baseAddress, rest.count) }
    }
  }

  package func write(_ bytes: [UInt8]) throws(SystemError) {
    try bytes.withUnsafeBytes { raw in Result { () throws(SystemError) in try write(raw) } }.get()
  }

  /// Writes all of the bytes at a place of their own, without moving the offset.
  package func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      let start = offset &+ Int64(sent)
      let wrote = bytes.withUnsafeBytes { raw in
        let rest = UnsafeRawBufferPointer(rebasing: raw[sent...])
        return Result { () throws(SystemError) in
          try invoke(.write, on: path) { pwrite(number, rest.baseAddress, rest.count, off_t(start)) }
        }
      }
      sent += try wrote.get()
    }
  }

  /// Puts data and status on the disk (fsync). An error is final for this file: a second call proves nothing.
  package func sync() throws(SystemError) { try invoke(.sync, on: path) { Int(fsync(number)) } }

  /// Puts the data on the disk and of the status what is needed to read it back (fdatasync).
  package func syncData() throws(SystemError) { try invoke(.sync, on: path) { Int(fdatasync(number)) } }

  /// Puts all that the file system holds on the disk (syncfs); an error does not say whose data failed.
  package func syncFileSystem() throws(SystemError) {
    try invoke(.syncFileSystem, on: path) { Int(relay_syncfs(number)) }
  }

  /// Sets the time of the last change of content, in nanoseconds since 1970.
  package func setModified(_ nanoseconds: Int64) throws(SystemError) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let floor = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    let time = timespec(tv_sec: Int(floor.0), tv_nsec: Int(floor.1))
    let times = [time, time]
    try invoke(.times, on: path) { Int(futimens(number, times)) }
  }

  /// Gives the open file to another user; only root can.
  package func give(toUser user: UInt32) throws(SystemError) {
    try invoke(.owner, on: path) { Int(fchown(number, user, gid_t.max)) }
  }

  package func truncate(to length: Int64) throws(SystemError) {
    try invoke(.truncate, on: path) { Int(ftruncate(number, off_t(length))) }
  }

  /// Reserves blocks, so that a full disk is told now and not in the middle; without effect where that isn't possible.
  package func allocate(_ length: Int64) throws(SystemError) {
    if case .fails(let code)? = FaultDoor.effect(on: .allocate, path) {
      throw SystemError(call: .allocate, code: code, subject: path)
    }
    let code = posix_fallocate(number, 0, off_t(length))
    if code != 0 && code != EOPNOTSUPP && code != EINVAL {
      throw SystemError(call: .allocate, code: code, subject: path)
    }
  }

  /// Shares the other file's blocks; false where the file system can't.
  package func clone(from other: Descriptor) -> Bool { relay_clone_file(number, other.number) == 0 }

  /// Holds a read lease: refused (false) while anybody has the file open for writing, or where leases don't work.
  package func takeReadLease() throws(SystemError) -> Bool {
    do {
      try invoke(.lease, on: path) { Int(relay_take_read_lease(number)) }
      return true
    } catch {
      if error.code == EAGAIN { return false }
      throw error
    }
  }

  /// Whether the lease still stands: nobody has tried to open the file for writing since.
  package var holdsReadLease: Bool { relay_holds_lease(number) == 1 }

  package func releaseLease() { _ = relay_release_lease(number) }
}
