// SPDX-License-Identifier: Apache-2.0
import CFolderTarget
import Glibc

/// A call that failed, and how.
struct CallFailure: Error, Equatable {
  let call: Kernel.Call
  let code: Int32
}

/// The calls that this target makes; tests make any of them fail.
struct Kernel {
  enum Call: String, CaseIterable {
    case openFolder, create, open, write, read, sync, close, rename, renameNew, link, unlink, syncFolder, look, lock
    case truncate, mount, permit
  }

  /// Asked before each call; a number makes the call fail with that errno.
  var fault: (Call) -> Int32? = { _ in nil }

  func openFolder(_ path: String) throws(CallFailure) -> Descriptor {
    Descriptor(try attempt(.openFolder) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
  }

  /// Makes a file that was not there.
  func create(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(
      try attempt(.create) {
        openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      })
  }

  /// Opens for appending and reading, made when it is missing.
  func openToAppend(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(
      try attempt(.open) { openat(folder.number, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666) })
  }

  func openToRead(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(try attempt(.open) { openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0) })
  }

  /// Writes all of `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(CallFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try attempt(.write) { Glibc.write(file.number, rest.baseAddress, rest.count) }
      guard count > 0 else { throw CallFailure(call: .write, code: EIO) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Reads until `buffer` is full or the file ends; how many bytes.
  func read(
    at offset: Int64, of file: Descriptor, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CallFailure) -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = try attempt(.read) {
        pread(file.number, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(offset) + filled)
      }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  func sync(_ file: Descriptor) throws(CallFailure) { _ = try attempt(.sync) { fsync(file.number) } }

  func syncFolder(_ folder: Descriptor) throws(CallFailure) { _ = try attempt(.syncFolder) { fsync(folder.number) } }

  /// Lets those read a new file who may read its folder, and its group write where it may write there.
  ///
  /// The worker's umask lets nobody; a file system without permissions (FAT) is left as it is.
  func admitReaders(to file: Descriptor, of folder: Descriptor) {
    guard let mode = try? look(folder).mode else { return }
    try? permit(file, 0o600 | mode & 0o064)
  }

  /// Closes and reports what network file systems say only now.
  ///
  /// Never repeated: the number may be another's by then.
  func close(_ file: Descriptor) throws(CallFailure) {
    let number = file.release()
    if let code = fault(.close) {
      _ = Glibc.close(number)
      throw CallFailure(call: .close, code: code)
    }
    guard Glibc.close(number) == 0 || errno == EINTR else { throw CallFailure(call: .close, code: errno) }
  }

  func rename(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.rename) { renameat(folder.number, old, folder.number, new) }
  }

  func renameNew(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.renameNew) { relay_folder_rename_new(folder.number, old, new) }
  }

  func link(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.link) { linkat(folder.number, old, folder.number, new, 0) }
  }

  func unlink(_ name: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.unlink) { unlinkat(folder.number, name, 0) }
  }

  func truncate(_ file: Descriptor, to size: Int64) throws(CallFailure) {
    _ = try attempt(.truncate) { ftruncate(file.number, off_t(size)) }
  }

  func permit(_ file: Descriptor, _ mode: UInt32) throws(CallFailure) {
    _ = try attempt(.permit) { fchmod(file.number, mode_t(mode)) }
  }

  func lock(_ file: Descriptor) throws(CallFailure) { _ = try attempt(.lock) { relay_folder_lock(file.number) } }

  func mountSteps(_ folder: Descriptor) throws(CallFailure) -> Int32 {
    try attempt(.mount) { relay_folder_mount_steps(folder.number) }
  }

  /// What is known of an open file.
  func look(_ file: Descriptor) throws(CallFailure) -> FileFacts {
    var facts = stat()
    _ = try attempt(.look) { fstat(file.number, &facts) }
    return FileFacts(facts)
  }

  /// What is known of a name, itself if it is a link; nil when there is none.
  func look(_ name: String, in folder: Descriptor) throws(CallFailure) -> FileFacts? {
    var facts = stat()
    do throws(CallFailure) {
      _ = try attempt(.look) { fstatat(folder.number, name, &facts, AT_SYMLINK_NOFOLLOW) }
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    return FileFacts(facts)
  }

  private func attempt<Value: SignedInteger>(_ call: Call, _ body: () -> Value) throws(CallFailure) -> Value {
    while true {
      if let code = fault(call) { throw CallFailure(call: call, code: code) }
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { throw CallFailure(call: call, code: errno) }
    }
  }
}

/// Which file it is, and how long.
struct FileFacts: Equatable {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let isRegular: Bool
  let mode: UInt32

  init(_ facts: stat) {
    device = UInt64(facts.st_dev)
    inode = UInt64(facts.st_ino)
    size = Int64(facts.st_size)
    mode = UInt32(facts.st_mode) & 0o7777
    isRegular = facts.st_mode & S_IFMT == S_IFREG
  }
}

/// An open file; closed when nobody holds it any more.
final class Descriptor {
  private(set) var number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  func release() -> Int32 {
    defer { number = -1 }
    return number
  }
}
