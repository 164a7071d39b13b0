// SPDX-License-Identifier: Apache-2.0
import RelayArchive
import RelaySystem

/// Looks through targets folders and makes the private copies; blocking, for a thread of its own.
struct TargetScanner: Sendable {
  /// What a file looked like; the same again means that nothing has to be done.
  struct Stamp: Equatable, Sendable {
    var size: Int64
    var inode: UInt64
    var changed: Int64

    /// Of what can't be looked at.
    static let none = Stamp(size: 0, inode: 0, changed: 0)
  }

  enum Finding: Equatable, Sendable {
    /// As before.
    case same
    case settling
    case broken(Stamp, reason: String)
    /// `manifest` is what the same bytes said of themselves before.
    case copied(Stamp, copy: String, sha256: String, manifest: [UInt8]?)
  }

  /// A file counts as settled when nothing about it has changed for this long, in nanoseconds.
  static let settled: Int64 = 1_000_000_000

  /// Where the copies go.
  let store: String
  /// A folder in which somebody else keeps what targets said of themselves; only read.
  var manifests: String?

  private static func manifestName(_ sha256: String) -> String { sha256 + ".json" }

  private func kept(_ sha256: String, in folder: Directory) -> [UInt8]? {
    for place in [folder, manifests.flatMap { try? Directory($0) }] {
      if let bytes = try? place?.content(of: Self.manifestName(sha256), limit: 1 << 20) { return bytes }
    }
    return nil
  }

  /// Keeps what a target said of itself; losing it costs asking again.
  func keep(_ manifest: [UInt8], of sha256: String) {
    try? Directory(store).replace(Self.manifestName(sha256), with: manifest, durable: false)
  }

  /// Removes copies and manifests that belong to none of these hashes and were made before a moment.
  func removeOthers(than hashes: Set<String>, before moment: WallTime) {
    guard let folder = try? Directory(store), let names = try? folder.names() else { return }
    for name in names {
      let hash = String(name.prefix { $0 != "." })
      // What has another kind of name wasn't made here.
      guard Digest(hex: hash) != nil, [".so", ".json"].contains(name.dropFirst(hash.count)), !hashes.contains(hash)
      else { continue }
      let made = (try? folder.status(of: name))?.modified ?? .max
      if made / 1_000_000 < moment.milliseconds { try? folder.remove(name) }
    }
  }

  /// Every `*.so` in the folders, in order. A folder that can't be read is an entry of its own with the reason.
  func scan(_ folders: [String], known: [String: Stamp], wall: WallTime) -> [(file: String, finding: Finding)] {
    var results: [(String, Finding)] = []
    for folder in folders {
      do throws(SystemError) {
        let directory = try Directory(folder)
        for name in try directory.names() where name.hasSuffix(".so") && !name.hasPrefix(".") {
          let file = folder + "/" + name
          results.append((file, look(at: name, in: directory, known: known[file], wall)))
        }
      } catch {
        // A folder that isn't there yet is a folder without targets.
        if !error.isMissing { results.append((folder, .broken(.none, reason: error.message))) }
      }
    }
    return results
  }

  private func look(at name: String, in folder: Directory, known: Stamp?, _ wall: WallTime) -> Finding {
    let file: Descriptor
    let stamp: Stamp
    do throws(SystemError) {
      // A link is fine here: a person put it; what counts is what it leads to now.
      file = try folder.openFollowing(name)
      let status = try file.status()
      guard status.kind == .file else {
        return .broken(Stamp(size: 0, inode: status.inode, changed: status.changed), reason: "It is no regular file.")
      }
      stamp = Stamp(size: status.size, inode: status.inode, changed: status.changed)
    } catch {
      return .broken(.none, reason: "It can't be read: \(SystemError.text(of: error.code)).")
    }
    if stamp == known { return .same }
    let age = wall.milliseconds &* 1_000_000 &- stamp.changed
    // A clock that was set back must not keep a file waiting.
    if age >= 0 && age < Self.settled { return .settling }
    do {
      return try copy(file, stamp)
    } catch let error as SystemError {
      // Not the file's fault (a full disk, for example): the next look tries again.
      return .broken(.none, reason: "It can't be copied to \(store): \(error.message).")
    } catch {
      return .broken(stamp, reason: "It can't be hashed.")
    }
  }

  /// The copy that has the file's bytes, if there is one.
  private func existingCopy(
    of file: Descriptor, in folder: Directory
  ) throws -> (copy: String, sha256: String)? {
    let wanted = try SHA256Hasher.digest(of: file)
    let name = wanted.digest.hex + ".so"
    guard let copy = try? folder.openFile(name), let found = try? SHA256Hasher.digest(of: copy),
      found.digest == wanted.digest
    else { return nil }
    return (folder.path + "/" + name, wanted.digest.hex)
  }

  private func copy(_ file: Descriptor, _ stamp: Stamp) throws -> Finding {
    var header = [UInt8](repeating: 0, count: 64)
    let got = try header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    if let problem = SharedObject.problem(header: Array(header.prefix(got)), size: stamp.size) {
      return .broken(stamp, reason: problem)
    }
    let folder = try Directory.ensure(store)
    // The copy of an earlier start does; a full disk must not keep what is queued from being delivered.
    if let known = try existingCopy(of: file, in: folder) {
      return .copied(stamp, copy: known.copy, sha256: known.sha256, manifest: kept(known.sha256, in: folder))
    }
    let temporary = ".in-\(Identifier.random())"
    let output = try folder.createFile(temporary, mode: 0o555)
    do {
      let hasher = try SHA256Hasher()
      var chunk = [UInt8](repeating: 0, count: 256 * 1024)
      var offset: Int64 = 0
      while true {
        let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        if count == 0 { break }
        try chunk.withUnsafeBytes { raw in
          let piece = UnsafeRawBufferPointer(rebasing: raw[..<count])
          try hasher.update(piece)
          try output.write(piece)
        }
        offset += Int64(count)
      }
      let after = try file.status()
      guard Stamp(size: after.size, inode: after.inode, changed: after.changed) == stamp, offset == stamp.size else {
        try? folder.remove(temporary)
        return .settling
      }
      try output.sync()
      let sha256 = try hasher.finish().hex
      try folder.rename(temporary, to: folder, as: sha256 + ".so")
      return .copied(
        stamp, copy: folder.path + "/" + sha256 + ".so", sha256: sha256, manifest: kept(sha256, in: folder))
    } catch {
      try? folder.remove(temporary)
      throw error
    }
  }
}
