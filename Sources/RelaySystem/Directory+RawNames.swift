// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// Names as bytes, without the zero at the end: what other programs put into a folder need not be UTF-8.
extension Directory {
  private func about(_ name: [UInt8]) -> String { path + "/" + String(decoding: name, as: UTF8.self) }

  private static func terminated(_ name: [UInt8]) -> [CChar] { name.map { CChar(bitPattern: $0) } + [0] }

  /// Calls `body` with each name but `.` and `..`, in no order, one at a time: memory doesn't grow with the folder.
  ///
  /// An error while reading is an error, never the end of the folder.
  package func forEachRawName(_ body: ([UInt8]) throws(SystemError) -> Void) throws(SystemError) {
    try forEachRawEntry { name, _ throws(SystemError) in try body(name) }
  }

  /// As `forEachRawName`, with the inode's number as the folder has it: to be compared with what the same folder said
  /// before, and with nothing else, since below some file systems `status` says another one.
  package func forEachRawEntry(
    _ body: (_ name: [UInt8], _ inode: UInt64) throws(SystemError) -> Void
  ) throws(SystemError) {
    let number = try invoke(.list, on: path) {
      Int(relay_open_at(descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0))
    }
    guard let stream = fdopendir(Int32(number)) else {
      let code = errno
      Glibc.close(Int32(number))
      throw SystemError(call: .list, code: code, subject: path)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(call: .list, code: errno, subject: path) }
        return
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in Array(raw.prefix { $0 != 0 }) }
      if name != [46] && name != [46, 46] { try body(name, UInt64(entry.pointee.d_ino)) }
    }
  }

  /// As `openFile` for a name in text: a regular file only, never a link, never waiting.
  package func openFile(raw name: [UInt8]) throws(SystemError) -> Descriptor {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let number = try invoke(.open, on: about(name)) {
      Int(relay_open_at(descriptor.number, Self.terminated(name), flags, 0))
    }
    let file = Descriptor(owning: Int32(number), path: about(name))
    guard try file.status().kind == .file else {
      throw SystemError(call: .open, code: EINVAL, subject: about(name))
    }
    return file
  }

  /// As `createFile` for a name in text.
  package func createFile(raw name: [UInt8], mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    let number = try invoke(.open, on: about(name)) {
      Int(relay_open_at(descriptor.number, Self.terminated(name), flags, mode))
    }
    return Descriptor(owning: Int32(number), path: about(name))
  }

  /// What stands under a name, a link not followed; nil when nothing does.
  package func status(ofRaw name: [UInt8]) throws(SystemError) -> FileStatus? {
    var raw = stat()
    do {
      try invoke(.status, on: about(name)) {
        Int(fstatat(descriptor.number, Self.terminated(name), &raw, AT_SYMLINK_NOFOLLOW))
      }
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    return FileStatus(raw)
  }

  /// Renames in this folder; with `exclusive`, EEXIST when the new name is taken.
  package func rename(raw name: [UInt8], as newName: [UInt8], exclusive: Bool = false) throws(SystemError) {
    let (old, new) = (Self.terminated(name), Self.terminated(newName))
    try invoke(.rename, on: about(name)) {
      Int(relay_rename_at(descriptor.number, old, descriptor.number, new, exclusive ? 1 : 0))
    }
  }

  package func remove(raw name: [UInt8]) throws(SystemError) {
    try invoke(.unlink, on: about(name)) { Int(unlinkat(descriptor.number, Self.terminated(name), 0)) }
  }

  /// Whether others than this kernel's programs may write here (NFS, SMB, FUSE and the like), so that a lease proves
  /// nothing about who has a file open; also true where that can't be told.
  package var mayHaveRemoteWriters: Bool { relay_is_shared_file_system(descriptor.number) != 0 }
}
