// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Glibc
import TargetKit

/// Puts each part as a file into a folder: whole or not at all, and once.
package struct FolderTarget: CheckableTarget {
  package static let manifest = FolderManifest.json

  let directory: String
  let keepsBoth: Bool
  let appends: Bool
  let requiresMount: Bool
  let kernel: Kernel

  package init(host: Host) throws(Verdict) {
    try self.init(host: host, kernel: Kernel())
  }

  init(host: Host, kernel: Kernel) throws(Verdict) {
    directory = try host.text("directory") ?? ""
    guard directory.hasPrefix("/") else { throw .needsAttention(.settings, Words.notAbsolute) }
    keepsBoth = try host.text("existing") == "keep-both"
    appends = try host.flag("append") ?? false
    requiresMount = try host.flag("requireMount") ?? false
    self.kernel = kernel
  }

  package mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    let isPacked = delivery.contentEncoding == "gzip"
    var wanted = try host.text("file") ?? delivery.fileName
    guard FileName(wanted) != nil else { throw .refused(.settings, Words.notPlain(wanted)) }
    if isPacked, !wanted.hasSuffix(".gz") { wanted += ".gz" }
    // A test must not take the place of what was delivered.
    if delivery.isTest { wanted = "test-\(wanted)" }
    guard let name = FileName(wanted) else { throw .refused(.settings, Words.notPlain(wanted)) }
    let folder = try open(host)
    if appends, !delivery.isTest {
      guard !isPacked else { throw .needsAttention(.settings, Words.appendGzip) }
      return try GrowingFile(kernel: kernel, folder: folder, name: name.numbered(1), delivery: delivery, host: host)
        .append()
    }
    return try WholeFile(
      kernel: kernel, folder: folder, name: name, delivery: delivery, host: host,
      keepsBoth: keepsBoth && !delivery.isTest
    ).deliver()
  }

  /// Shows that a file can be made and removed.
  package mutating func check(host: Host) throws(Verdict) -> Verdict {
    let folder = try open(host)
    let name = ".relay-host-check.\(getpid()).part"
    do throws(CallFailure) {
      let file = try kernel.create(name, in: folder)
      defer { try? kernel.unlink(name, in: folder) }
      try kernel.sync(file)
      try kernel.close(file)
    } catch {
      throw ErrnoTable.verdict(on: error, subject: "\(directory)/\(name)")
    }
    return .delivered(message: "\(directory) can be written to")
  }

  private func open(_ host: Host) throws(Verdict) -> Descriptor {
    let folder = try calling(directory) { () throws(CallFailure) in try kernel.openFolder(directory) }
    if requiresMount {
      let steps = try calling(directory) { () throws(CallFailure) in try kernel.mountSteps(folder) }
      try MountMemory.check(steps, of: directory, host: host)
    }
    return folder
  }
}

/// Remembers how near the folder its disk is mounted: on a machine where something is always mounted further up, that alone
/// would hide that the disk is missing.
enum MountMemory {
  private static let key = "mount"

  static func check(_ steps: Int32, of directory: String, host: Host) throws(Verdict) {
    guard steps != .max else { throw .needsAttention(.notFound, Words.notMounted(directory)) }
    let state = host.state(.pipeline)
    let saved = try state.get(key).map { String(decoding: $0, as: UTF8.self) }?.split(separator: " ", maxSplits: 1)
    let known = saved?.count == 2 && saved?[1] == directory[...] ? saved.flatMap { Int32($0[0]) } : nil
    if let known, steps > known { throw .needsAttention(.notFound, Words.notMounted(directory)) }
    if steps != known { try state.put(key, "\(steps) \(directory)") }
  }
}
