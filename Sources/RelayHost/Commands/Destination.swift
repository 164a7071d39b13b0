// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayConfig
import RelayJSON
import RelayPipelines
import RelayQueue
import RelaySystem

/// The folder that a backup goes to: opened by the command, since the daemon may not see it or not be let into it.
enum Destination {
  /// Opens the folder, made when only itself is missing, and lets `body` use it. One that was made and stays empty goes
  /// again.
  ///
  /// - Parameter owner: whom a folder that root makes is given to: the daemon's user.
  static func with(
    _ path: String, owner: UInt32?, _ body: (Directory) throws(Refusal) -> ControlReply
  ) throws(Refusal) -> ControlReply {
    if let folder = try existing(path) { return try body(folder) }
    // What is above it is not made: most often a disk is not mounted.
    let name = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    let parent: Directory
    do { parent = try Directory(PathRules.parent(of: path)) } catch {
      throw Refusal(
        .usage, .backupBadFolder,
        "\(PathRules.parent(of: path)) can't be used for a backup: \(SystemError.text(of: error.code)).",
        hint: "make it first; is the disk mounted?")
    }
    let folder: Directory
    do throws(SystemError) {
      try parent.makeFolder(name)
      folder = try Directory(path)
      if geteuid() == 0, let owner, owner != 0 { try folder.descriptor.give(toUser: owner) }
      try parent.sync()
    } catch {
      throw Refusal(BackupError.destination(error))
    }
    do throws(Refusal) {
      let reply = try body(folder)
      if reply.refusal != nil { try? parent.removeFolder(name) }
      return reply
    } catch {
      try? parent.removeFolder(name)
      throw error
    }
  }

  private static func existing(_ path: String) throws(Refusal) -> Directory? {
    do {
      return try Directory(path)
    } catch {
      if error.isMissing { return nil }
      throw Refusal(
        .usage, .backupBadFolder, "\(path) can't be used for a backup: \(SystemError.text(of: error.code)).",
        hint: "name a folder that is empty, or one that isn't there yet")
    }
  }
}

/// How far a long command has come, on one line of a terminal that is written over and over.
final class ProgressLine {
  private let isShown: Bool
  private var isDirty = false

  init(isShown: Bool) { self.isShown = isShown && isatty(2) == 1 }

  func show(_ done: JSONNode) {
    guard isShown else { return }
    isDirty = true
    let files = Words.count(done["files"]?.integer ?? 0, "file", "files")
    write("\r\u{1B}[K\(done.shown("pipeline")): \(files), \(Words.bytes(done["bytes"]?.integer ?? 0))")
  }

  func end() {
    if isDirty { write("\r\u{1B}[K") }
    isDirty = false
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
  }
}
