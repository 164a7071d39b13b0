// SPDX-License-Identifier: Apache-2.0
import RelaySystem

/// Making the copy show the moment that was caught: nothing more, nothing less.
extension PipelineCopy {
  func finish(
    _ moment: PipelineMoment, _ list: inout BackupList
  ) throws(BackupError) -> BackupManifest.Pipeline {
    for (key, known) in copied where moment.listed[key] != known.inode { try drop(key) }
    for (key, inode, files) in moment.fresh {
      try drop(key)
      if key.place == .inbox {
        for (_, file) in files { try writeInboxFile(key, inode, file) }
        if copied[key] == nil { leftOutOfInbox.insert(source.folder.path + "/inbox/" + key.text) }
      } else {
        try writeArtifact(key, inode) { body throws(BackupError) in
          for (name, file) in files { try body(name, file) }
        }
      }
    }
    let number = nextNumber()
    let home = ["pipelines", source.id]
    if let marks = moment.marks {
      try scratch.add(try writer.write(marks, to: folder, home, Marks.fileName), of: number)
    }
    for (name, file, size) in moment.small {
      try scratch.add(try writer.copy(file, to: folder, home, name, limit: size), of: number)
    }
    if let taking = moment.taking { try settle(taking.what, taking.file, moment) }
    return try count(number, &list)
  }

  /// The file that was being taken is an artifact of this copy, and then it isn't in the inbox any more; or it isn't, and
  /// then it still waits under its own name.
  private func settle(
    _ taking: BackupInbox.Taking, _ file: Descriptor, _ moment: PipelineMoment
  ) throws(BackupError) {
    var key = Key(place: .inbox, name: taking.name)
    let waitsUnderItsName = taking.file == taking.name
    if try wasCommitted(taking.artifactID, moment) {
      if waitsUnderItsName { try drop(key) }
      return
    }
    guard !waitsUnderItsName else { return }
    if copied[key] != nil || moment.listed[key] != nil {
      // Its name was given to another file meanwhile.
      let prefix = Array("\(taking.artifactID)-".utf8)
      key.name = prefix + taking.name.suffix(255 - prefix.count)
      guard copied[key] == nil else { return }
    }
    try writeInboxFile(key, 0, file)
  }

  private func wasCommitted(_ id: Identifier, _ moment: PipelineMoment) throws(BackupError) -> Bool {
    if let record = moment.marks.flatMap({ Marks.newest(in: $0) })?.record,
      record.pendingRemovals.contains(where: { $0.artifactID == id })
    {
      return true
    }
    // The youngest first: it is one of the last.
    for place in [Place.queue, .refused, .corrupt] {
      let names = copied.keys.filter { $0.place == place && copied[$0]?.number != nil }.map(\.text).sorted(by: >)
      for name in names {
        let folder = try target(place)
        let artifact = try BackupSide.destination { () throws(SystemError) in try folder.folder(name) }
        if (try? PipelineFolder.readManifest(in: artifact))?.artifactID == id { return true }
      }
    }
    let last = (try? DeliveryLog(in: folder).last()) ?? []
    return last.contains { $0.artifact == id.description }
  }

  /// Takes the lines of what stayed over into the list, and counts.
  private func count(_ own: Int, _ list: inout BackupList) throws(BackupError) -> BackupManifest.Pipeline {
    var result = BackupManifest.Pipeline(
      id: source.id, leftOut: Array(leftOut.union(leftOutOfInbox).sorted().prefix(100)))
    var numbers: Set<Int> = [own]
    for (key, known) in copied {
      guard let number = known.number else { continue }
      numbers.insert(number)
      switch key.place {
      case .queue: result.queued += 1
      case .refused: result.refused += 1
      case .corrupt: result.corrupt += 1
      case .ready: result.ready += 1
      case .inbox: result.inbox += 1
      }
    }
    try scratch.take(numbers) { entry throws(BackupError) in
      result.files += 1
      result.bytes = result.bytes.addingReportingOverflow(entry.size).partialValue
      try list.add(entry)
    }
    return result
  }
}
