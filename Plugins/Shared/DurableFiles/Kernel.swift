// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A call that failed, and how.
package struct CallFailure: Error, Equatable {
  package let call: Kernel.Call
  package let code: Int32

  package init(call: Kernel.Call, code: Int32) {
    self.call = call
    self.code = code
  }
}

/// The calls on files that targets make; tests make any of them fail.
package struct Kernel {
  package enum Call: String, CaseIterable {
    case openFolder, create, open, write, read, sync, close, rename, renameNew, link, unlink, syncFolder, look, lock
    case truncate, mount, permit
  }

  /// Asked before each call; a number makes the call fail with that errno.
  package var fault: (Call) -> Int32?

  package init(fault: @escaping (Call) -> Int32? = { _ in nil }) { self.fault = fault }

  package func openFolder(_ path: String) throws(CallFailure) -> Descriptor {
    Descriptor(try attempt(.openFolder) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
  }

  /// Makes a file that was not there.
  package func create(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(
      try attempt(.create) {
        openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      })
  }

  /// Opens for appending and reading, made when it is missing.
  package func openToAppend(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(
      try attempt(.open) { openat(folder.number, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666) })
  }

  package func openToRead(_ name: String, in folder: Descriptor) throws(CallFailure) -> Descriptor {
    Descriptor(try attempt(.open) { openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0) })
  }

  /// Writes all of `bytes`.
  package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(CallFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try attempt(.write) { Glibc.write(file.number, rest.baseAddress, rest.count) }
      guard count > 0 else { throw CallFailure(call: .write, code: EIO) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Reads until `buffer` is full or the file ends; how many bytes.
  package func read(
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

  package func sync(_ file: Descriptor) throws(CallFailure) { _ = try attempt(.sync) { fsync(file.number) } }

  package func syncFolder(_ folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.syncFolder) { fsync(folder.number) }
  }

  /// Lets those read a new file who may read its folder, and its group write where it may write there.
  ///
  /// The worker's umask lets nobody; a file system without permissions (FAT) is left as it is.
  package func admitReaders(to file: Descriptor, of folder: Descriptor) {
    guard let mode = try? look(folder).mode else { return }
    try? permit(file, 0o600 | mode & 0o064)
  }

  /// Closes and reports what network file systems say only now.
  ///
  /// Never repeated: the number may be another's by then.
  package func close(_ file: Descriptor) throws(CallFailure) {
    let number = file.release()
    if let code = fault(.close) {
      _ = Glibc.close(number)
      throw CallFailure(call: .close, code: code)
    }
    guard Glibc.close(number) == 0 || errno == EINTR else { throw CallFailure(call: .close, code: errno) }
  }

  package func rename(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.rename) { renameat(folder.number, old, folder.number, new) }
  }

  package func link(_ old: String, to new: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.link) { linkat(folder.number, old, folder.number, new, 0) }
  }

  package func unlink(_ name: String, in folder: Descriptor) throws(CallFailure) {
    _ = try attempt(.unlink) { unlinkat(folder.number, name, 0) }
  }

  package func truncate(_ file: Descriptor, to size: Int64) throws(CallFailure) {
    _ = try attempt(.truncate) { ftruncate(file.number, off_t(size)) }
  }

  package func permit(_ file: Descriptor, _ mode: UInt32) throws(CallFailure) {
    _ = try attempt(.permit) { fchmod(file.number, mode_t(mode)) }
  }

  /// What is known of an open file.
  package func look(_ file: Descriptor) throws(CallFailure) -> FileFacts {
    var facts = stat()
    _ = try attempt(.look) { fstat(file.number, &facts) }
    return FileFacts(facts)
  }

  /// What is known of a name, itself if it is a link; nil when there is none.
  package func look(_ name: String, in folder: Descriptor) throws(CallFailure) -> FileFacts? {
    var facts = stat()
    do throws(CallFailure) {
      _ = try attempt(.look) { fstatat(folder.number, name, &facts, AT_SYMLINK_NOFOLLOW) }
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    return FileFacts(facts)
  }

  /// Makes one call, again where a signal interrupted it.
  package func attempt<Value: SignedInteger>(_ call: Call, _ body: () -> Value) throws(CallFailure) -> Value {
    while true {
      if let code = fault(call) { throw CallFailure(call: call, code: code) }
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { throw CallFailure(call: call, code: errno) }
    }
  }
}
