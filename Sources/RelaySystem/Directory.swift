// SPDX-License-Identifier: Apache-2.0
import CRelaySystem
import Glibc

/// An open folder: what is in it is reached by name through its descriptor, so that no link on the way can lead elsewhere.
package final class Directory: Sendable {
  package let descriptor: Descriptor
  package var path: String { descriptor.path }

  /// Opens an existing folder; links on the way are followed.
  package init(_ path: String) throws(SystemError) {
    let number = try invoke(.open, on: path) { Int(relay_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)) }
    descriptor = Descriptor(owning: Int32(number), path: path)
  }

  init(openedAs descriptor: Descriptor) { self.descriptor = descriptor }

  /// A folder that another process has opened and handed over; `path` is how messages name it.
  package init(handedOver descriptor: Descriptor, path: String) throws(SystemError) {
    guard try descriptor.status().kind == .folder else {
      throw SystemError(call: .open, code: ENOTDIR, subject: path)
    }
    let number = try invoke(.open, on: path) { Int(fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)) }
    self.descriptor = Descriptor(owning: Int32(number), path: path)
  }

  /// The folder that holds this one, as the file system has it, whatever the path says; the topmost holds itself.
  package func parent() throws(SystemError) -> Directory {
    let number = try invoke(.open, on: about("..")) {
      Int(relay_open_at(descriptor.number, "..", O_RDONLY | O_DIRECTORY, 0))
    }
    return Directory(openedAs: Descriptor(owning: Int32(number), path: about("..")))
  }

  /// Opens the folder, making it and what is missing above it; each new one is put on the disk with its parent.
  package static func ensure(_ path: String, mode: UInt32 = 0o700) throws(SystemError) -> Directory {
    do {
      return try Directory(path)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
    var trimmed = path
    while trimmed.count > 1 && trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else {
      return try Directory(".").ensureFolder(trimmed, mode: mode)
    }
    let parent = try ensure(slash == trimmed.startIndex ? "/" : String(trimmed[..<slash]), mode: mode)
    return try parent.ensureFolder(String(trimmed[trimmed.index(after: slash)...]), mode: mode)
  }

  private func about(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

  /// Opens a folder in this one; a link is not followed.
  package func folder(_ name: String) throws(SystemError) -> Directory {
    let number: Int
    do {
      number = try invoke(.open, on: about(name)) {
        Int(relay_open_at(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0))
      }
    } catch {
      // The kernel says the same of a link as of a file.
      guard error.code == ENOTDIR, (try? status(of: name))?.kind == .link else { throw error }
      throw SystemError(call: .open, code: ELOOP, subject: about(name))
    }
    return Directory(openedAs: Descriptor(owning: Int32(number), path: about(name)))
  }

  /// Opens a folder in this one; made, and put on the disk, when it isn't there.
  package func ensureFolder(_ name: String, mode: UInt32 = 0o700) throws(SystemError) -> Directory {
    do {
      return try folder(name)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
    do {
      try makeFolder(name, mode: mode)
      try sync()
    } catch {
      guard error.code == EEXIST else { throw error }
    }
    return try folder(name)
  }

  package func makeFolder(_ name: String, mode: UInt32 = 0o700) throws(SystemError) {
    try invoke(.makeDirectory, on: about(name)) { Int(mkdirat(descriptor.number, name, mode_t(mode))) }
  }

  /// Opens an existing regular file for reading; never a link, and never waits on a FIFO or device.
  package func openFile(_ name: String, writable: Bool = false) throws(SystemError) -> Descriptor {
    let flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let number = try invoke(.open, on: about(name)) { Int(relay_open_at(descriptor.number, name, flags, 0)) }
    let file = Descriptor(owning: Int32(number), path: about(name))
    guard try file.status().kind == .file else {
      throw SystemError(call: .open, code: EINVAL, subject: about(name))
    }
    return file
  }

  /// Opens a file for reading, following a link: for what a person put there. Never waits on a FIFO.
  package func openFollowing(_ name: String) throws(SystemError) -> Descriptor {
    let number = try invoke(.open, on: about(name)) {
      Int(relay_open_at(descriptor.number, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0))
    }
    return Descriptor(owning: Int32(number), path: about(name))
  }

  /// Opens a device such as `null` in `/dev`.
  package func openDevice(_ name: String) throws(SystemError) -> Descriptor {
    let number = try invoke(.open, on: about(name)) {
      Int(relay_open_at(descriptor.number, name, O_RDWR | O_NOCTTY, 0))
    }
    return Descriptor(owning: Int32(number), path: about(name))
  }

  /// Creates a file that isn't there yet (EEXIST otherwise), open for reading and writing.
  package func createFile(_ name: String, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    let number = try invoke(.open, on: about(name)) { Int(relay_open_at(descriptor.number, name, flags, mode)) }
    return Descriptor(owning: Int32(number), path: about(name))
  }

  /// Opens a file for appending or for a lock, creating it where it isn't there.
  package func openOrCreateFile(
    _ name: String, append: Bool = false, mode: UInt32 = 0o600
  ) throws(SystemError) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (append ? O_APPEND : 0)
    let number = try invoke(.open, on: about(name)) { Int(relay_open_at(descriptor.number, name, flags, mode)) }
    return Descriptor(owning: Int32(number), path: about(name))
  }

  /// A file without a name in this folder's file system; gone when closed.
  package func unnamedFile(mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
    let number = try invoke(.open, on: path) { Int(relay_unnamed_file(descriptor.number, mode)) }
    return Descriptor(owning: Int32(number), path: path + "/(unnamed)")
  }

  /// What stands under a name, a link not followed; nil when nothing does.
  package func status(of name: String) throws(SystemError) -> FileStatus? {
    var raw = stat()
    do {
      try invoke(.status, on: about(name)) { Int(fstatat(descriptor.number, name, &raw, AT_SYMLINK_NOFOLLOW)) }
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    return FileStatus(raw)
  }

  /// Renames; with `exclusive`, EEXIST when the new name is taken. Durable only after both folders were synced.
  package func rename(
    _ name: String, to folder: Directory, as newName: String, exclusive: Bool = false
  ) throws(SystemError) {
    try invoke(.rename, on: about(name)) {
      Int(relay_rename_at(descriptor.number, name, folder.descriptor.number, newName, exclusive ? 1 : 0))
    }
  }

  package func remove(_ name: String) throws(SystemError) {
    try invoke(.unlink, on: about(name)) { Int(unlinkat(descriptor.number, name, 0)) }
  }

  package func removeFolder(_ name: String) throws(SystemError) {
    try invoke(.removeDirectory, on: about(name)) { Int(unlinkat(descriptor.number, name, AT_REMOVEDIR)) }
  }

  package func sync() throws(SystemError) { try descriptor.sync() }

  /// A hint that the folders made in this one have nothing to do with each other (`chattr +T`): ext4 then gives each room
  /// and inodes of its own. Without effect elsewhere.
  package func spreadSubfolders() { _ = relay_spread_subfolders(descriptor.number) }
}
