// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

extension Directory {
  /// The names in this folder but `.` and `..`, in no order, exactly as bytes: a name need not be UTF-8.
  ///
  /// An error while reading is an error, never an empty folder.
  package func rawNames() throws(SystemError) -> [[CChar]] {
    let number = try invoke(.list, on: path) {
      Int(relay_open_at(descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0))
    }
    guard let stream = fdopendir(Int32(number)) else {
      let code = errno
      Glibc.close(Int32(number))
      throw SystemError(call: .list, code: code, subject: path)
    }
    defer { closedir(stream) }
    var names: [[CChar]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(call: .list, code: errno, subject: path) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        Array(raw.bindMemory(to: CChar.self).prefix { $0 != 0 }) + [0]
      }
      if name != [46, 0] && name != [46, 46, 0] { names.append(name) }
    }
  }

  /// The names in this folder that are UTF-8, sorted by bytes; others are left out.
  package func names() throws(SystemError) -> [String] {
    try rawNames().compactMap { raw in
      String(validating: raw.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// A small file's bytes; nil when it isn't there.
  package func content(of name: String, limit: Int = 16 << 20) throws(SystemError) -> [UInt8]? {
    let file: Descriptor
    do {
      file = try openFile(name)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    return try file.readAll(limit: limit)
  }

  /// Replaces a file whole: after a crash it holds the old bytes or the new ones, never a mixture.
  ///
  /// Durable when it returns, unless `durable` is false (for caches).
  package func replace(
    _ name: String, with bytes: [UInt8], mode: UInt32 = 0o600, durable: Bool = true
  ) throws(SystemError) {
    let temporary = ".\(name).new"
    do {
      try remove(temporary)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
    do {
      let file = try createFile(temporary, mode: mode)
      try file.write(bytes)
      if durable { try file.sync() }
      try rename(temporary, to: self, as: name)
    } catch {
      try? remove(temporary)
      throw error
    }
    if durable { try sync() }
  }

  /// Removes a name and, where it is a folder, all that is in it; links are removed, not followed.
  package func removeTree(_ name: String) throws(SystemError) {
    try removeTree(Array(name.utf8CString), depth: 0)
  }

  private func removeTree(_ name: [CChar], depth: Int) throws(SystemError) {
    let subject = path + "/" + String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do {
      try invoke(.unlink, on: subject) { Int(unlinkat(descriptor.number, name, 0)) }
      return
    } catch {
      if error.code == ENOENT { return }
      guard error.code == EISDIR || error.code == EPERM else { throw error }
    }
    guard depth < 64 else { throw SystemError(call: .removeDirectory, code: ELOOP, subject: subject) }
    let number = try invoke(.open, on: subject) {
      Int(relay_open_at(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0))
    }
    let inner = Directory(openedAs: Descriptor(owning: Int32(number), path: subject))
    for child in try inner.rawNames() { try inner.removeTree(child, depth: depth + 1) }
    try invoke(.removeDirectory, on: subject) { Int(unlinkat(descriptor.number, name, AT_REMOVEDIR)) }
  }

  /// Bytes and inodes that are free for this user on the folder's file system.
  package func spaceLeft() throws(SystemError) -> (bytes: UInt64, inodes: UInt64) {
    var raw = statvfs()
    try invoke(.spaceLeft, on: path) { Int(fstatvfs(descriptor.number, &raw)) }
    // File systems that count no inodes (btrfs) report none at all.
    let inodes = raw.f_files == 0 ? UInt64.max : UInt64(raw.f_favail)
    return (UInt64(raw.f_bavail).multipliedReportingOverflow(by: UInt64(raw.f_frsize)).partialValue, inodes)
  }
}
