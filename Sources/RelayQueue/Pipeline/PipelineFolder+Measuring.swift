// SPDX-License-Identifier: Apache-2.0
import RelaySystem
import Synchronization

extension PipelineFolder {
  /// Counts parts and bytes of the whole queue; takes a while with a long backlog, so a thread of its own calls it.
  @discardableResult
  package func measure() throws(SystemError) -> QueueTotals {
    try loadBooks()
    let queue = try queue
    let names = try books.withLock { (books: inout QueueBooks) throws(SystemError) in
      books.beginMeasuring()
      return try queue.rawNames()
    }
    var found: [(sequence: UInt64, size: QueueBooks.Size)] = []
    for name in names {
      guard let sequence = SequenceName.text(name).flatMap({ SequenceName.parse($0) }) else { continue }
      do throws(SystemError) {
        found.append((sequence, try Self.size(of: SequenceName.name(sequence), in: queue)))
      } catch {
        // It left in the meantime, or is no folder.
        if books.withLock({ !$0.stillCounts(sequence) }) || (try? queue.status(of: SequenceName.name(sequence))) == nil
        {
          continue
        }
        if (try? queue.status(of: SequenceName.name(sequence))?.kind) != .folder { continue }
        books.withLock { $0.abandonMeasuring() }
        throw error
      }
    }
    return books.withLock { books in
      books.endMeasuring(found)
      return books.totals
    }
  }

  /// What an artifact takes, needed when it leaves a queue that was measured.
  func sizeIfMeasured(_ sequence: UInt64) -> QueueBooks.Size? {
    guard totals.isMeasured else { return nil }
    return try? Self.size(of: SequenceName.name(sequence), in: queue)
  }

  /// Parts and their bytes, from the folder alone.
  static func size(of name: String, in parent: Directory) throws(SystemError) -> QueueBooks.Size {
    let folder = try parent.folder(name)
    var size = QueueBooks.Size(parts: 0, bytes: 0)
    for file in try folder.names() where PartName.index(of: file) ?? 0 > 0 {
      guard let status = try folder.status(of: file), status.kind == .file else { continue }
      size.parts += 1
      size.bytes = size.bytes.addingReportingOverflow(status.size).partialValue
    }
    return size
  }
}
