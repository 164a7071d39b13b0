// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import TargetKit

/// The file that calendars subscribe to: a full picture of the events delivered so far, replaced in one step.
struct CalendarFile {
  /// How often subscribers are asked to look, as an iCalendar duration.
  static let refresh = "PT1H"
  /// The file's line that says whose it is, so that nobody else's calendar is ever overwritten.
  static let mark = "X-RELAY-PIPELINE"
  /// How much of a file is looked at for the mark, in bytes.
  private static let head = 4096
  /// Bytes gathered before they are written.
  private static let chunk = 65_536

  let path: String
  let folderPath: String
  let name: String
  let kernel: Kernel

  init(_ path: String, kernel: Kernel) throws(Verdict) {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    guard path.hasPrefix("/"), FileName(name) != nil else { throw CalendarFault.fileName.verdict }
    self.path = path
    self.name = name
    folderPath = path.count == name.count + 1 ? "/" : String(path.dropLast(name.count + 1))
    self.kernel = kernel
  }

  func deliver(_ part: EventPart, _ delivery: Delivery, calendarName: String?, host: Host) throws(Verdict) -> Verdict {
    let folder = try openFolder()
    try checkOwner(delivery.pipelineID, in: folder)
    let tally = try note(part, delivery, host: host)
    let picture = Picture(
      pipeline: delivery.pipelineID, name: calendarName ?? delivery.pipelineName, ledger: Ledger(host), host: host)
    var verdict = Verdict.delivered(message: tally.message(ignored: part.ignored), receipt: path)
    // What did not change is not written either: readers then see neither a new time nor a new ETag.
    if tally.isQuiet, try isSame(picture, in: folder) {
      try calling(folderPath) { () throws(CallFailure) in try kernel.syncFolder(folder) }
      return verdict
    }
    verdict.bytesSent = try replace(with: picture, pipeline: delivery.pipelineID, in: folder)
    return verdict
  }

  /// Shows that a file can be made beside it and removed.
  func check() throws(Verdict) -> Verdict {
    let folder = try openFolder()
    try checkOwner(nil, in: folder)
    let partial = FileName(name)?.partial("check") ?? ".relay-host-check.part"
    try calling("\(folderPath)/\(partial)") { () throws(CallFailure) in
      let file = try PartialFile(partial, in: folder, kernel: kernel)
      defer { try? kernel.unlink(partial, in: folder) }
      try file.finish()
    }
    return .delivered(message: "\(folderPath) can be written to")
  }

  /// Puts the part's events into the ledger.
  ///
  /// If this is cut off, the next attempt finds what was noted unchanged and goes on behind it.
  private func note(_ part: EventPart, _ delivery: Delivery, host: Host) throws(Verdict) -> Tally {
    let ledger = Ledger<FileRecord>(host)
    var tally = Tally()
    var events = part.events
    while let event = try events.next() {
      if host.shouldStop { throw .cancelled }
      let identity = EventIdentity(pipeline: delivery.pipelineID, key: event.key)
      let earlier = try ledger.record(identity)
      host.progress(UInt64(events.number), of: UInt64(part.count))
      if earlier?.event == event {
        tally.unchanged += 1
        continue
      }
      let sequence = earlier.map { $0.sequence + 1 } ?? 0
      try ledger.save(
        FileRecord(event: event, sequence: sequence, changed: delivery.created / 1000), identity)
      if earlier == nil { tally.made += 1 } else { tally.changed += 1 }
    }
    return tally
  }

  private func openFolder() throws(Verdict) -> Descriptor {
    try calling(folderPath) { () throws(CallFailure) in try kernel.openFolder(folderPath) }
  }

  /// Someone's own calendar, or another pipeline's, stays as it is.
  /// Without a pipeline, one that any pipeline wrote will do.
  private func checkOwner(_ pipeline: String?, in folder: Descriptor) throws(Verdict) {
    guard let facts = try look(in: folder) else { return }
    guard facts.isRegular else { throw CalendarFault.notAFile(path).verdict }
    guard facts.size > 0 else { return }
    let file = try calling(path) { () throws(CallFailure) in try kernel.openToRead(name, in: folder) }
    let head = try read(file, at: 0, Self.head)
    let line = "\r\n\(Self.mark):" + (pipeline.map { "\($0)\r\n" } ?? "")
    guard head.firstRange(of: Array(line.utf8)) != nil else {
      throw CalendarFault.foreignFile(path).verdict
    }
  }

  private func look(in folder: Descriptor) throws(Verdict) -> FileFacts? {
    try calling(path) { () throws(CallFailure) in try kernel.look(name, in: folder) }
  }

  private func isSame(_ picture: Picture, in folder: Descriptor) throws(Verdict) -> Bool {
    guard let facts = try look(in: folder), facts.isRegular else { return false }
    let file = try calling(path) { () throws(CallFailure) in try kernel.openToRead(name, in: folder) }
    var offset: Int64 = 0
    try picture.write(chunk: Self.chunk) { (bytes) throws(Verdict) in
      guard try read(file, at: offset, bytes.count) == bytes else { return false }
      offset += Int64(bytes.count)
      return true
    }
    return offset == facts.size
  }

  private func replace(with picture: Picture, pipeline: String, in folder: Descriptor) throws(Verdict) -> UInt64 {
    let partial = FileName(name)?.partial(pipeline) ?? ".relay-host.part"
    var written: UInt64 = 0
    do throws(Verdict) {
      var file = try calling(path) { () throws(CallFailure) in
        try PartialFile(partial, in: folder, kernel: kernel)
      }
      try picture.write(chunk: Self.chunk) { (bytes) throws(Verdict) in
        try calling(path) { () throws(CallFailure) in try file.write(bytes) }
        written += UInt64(bytes.count)
        return true
      }
      try calling(path) { () throws(CallFailure) in
        try file.finish()
        try kernel.rename(partial, to: name, in: folder)
        try kernel.syncFolder(folder)
      }
    } catch {
      // What is left is removed now if it can be, else by the next attempt.
      try? PartialFile.remove(partial, in: folder, kernel: kernel)
      throw error
    }
    return written
  }

  private func read(_ file: Descriptor, at offset: Int64, _ count: Int) throws(Verdict) -> [UInt8] {
    var failure: CallFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(CallFailure) {
        filled = try kernel.read(at: offset, of: file, into: UnsafeMutableRawBufferPointer(buffer))
      } catch {
        failure = error
      }
    }
    if let failure { throw ErrnoTable.verdict(on: failure, subject: path) }
    return bytes
  }
}
