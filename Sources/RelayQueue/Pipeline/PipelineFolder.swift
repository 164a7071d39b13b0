// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import Synchronization

/// One pipeline's folder: its queue, what was set aside, and how far delivery has come.
package final class PipelineFolder: Sendable {
  package let id: String
  package let folder: Directory
  private let openQueue = Mutex(OpenFolder())
  package let marks: Marks
  /// What was found of the marks when the folder was opened.
  package let marksFinding: FileFinding
  package let stateFile: PipelineStateFile
  package let deliveryLog: DeliveryLog
  let committer: Committer
  /// Also the pipeline's lock: sequences are given, and entries renamed, while it is held.
  let books = Mutex(QueueBooks())

  static let subfolders = ["queue", "inbox", "refused", "corrupt", "ready"]

  /// - Parameter makes: Whether what is missing is made; else this is a look only, and marks can't be written.
  package init(id: String, in parent: Directory, committer: Committer, makes: Bool) throws(StateError) {
    self.id = id
    self.committer = committer
    do throws(SystemError) {
      folder = try makes ? parent.ensureFolder(id) : parent.folder(id)
      if makes {
        for name in Self.subfolders { _ = try folder.ensureFolder(name) }
        (marks, marksFinding) = try Marks.open(in: folder, committer: committer)
      } else {
        marks = Marks(readOnly: try Marks.read(in: folder), committer)
        marksFinding = .good
        // What has no queue is no pipeline's folder.
        _ = try folder.folder("queue")
      }
      stateFile = PipelineStateFile(in: folder)
      deliveryLog = DeliveryLog(in: folder)
    } catch {
      throw .system(error)
    }
  }

  /// Opens what the target saved; once, by who runs the target.
  package func openTargetState() throws(SystemError) -> (state: TargetState, finding: FileFinding) {
    try TargetState.open(in: folder, committer: committer)
  }

  /// The folder of what waits, open for as long as somebody holds it: one descriptor a pipeline is all that idle ones cost.
  ///
  /// All who need it at a time get the same one, so that the committer syncs it once for all of them.
  package var queue: Directory {
    get throws(SystemError) {
      try openQueue.withLock { (open: inout OpenFolder) throws(SystemError) in
        if let shared = open.folder { return shared }
        let opened = try folder.folder("queue")
        open.folder = opened
        return opened
      }
    }
  }

  package var queuePath: String { folder.path + "/queue" }

  private struct OpenFolder {
    weak var folder: Directory?
  }

  /// One of `subfolders`; opened when it is needed, so that pipelines hold few descriptors.
  package func subfolder(_ name: String) throws(SystemError) -> Directory {
    try name == "queue" ? queue : folder.folder(name)
  }
}

extension PipelineFolder {
  /// Looks through the folders once for the largest sequence and the number of artifacts.
  func loadBooks() throws(SystemError) {
    try books.withLock { (books: inout QueueBooks) throws(SystemError) in try load(&books) }
  }

  private func load(_ books: inout QueueBooks) throws(SystemError) {
    guard books.nextSequence == nil else { return }
    let record = marks.current
    var largest = min(max(record.completedThrough, record.headSequence), SequenceName.largest)
    var artifacts = 0
    for name in try queue.rawNames() {
      guard let text = SequenceName.text(name) else { continue }
      if let sequence = SequenceName.mentioned(in: text) { largest = max(largest, sequence) }
      if SequenceName.parse(text) != nil { artifacts += 1 }
    }
    for folder in ["refused", "corrupt", "ready"] {
      for name in try subfolder(folder).rawNames() {
        if let sequence = SequenceName.text(name).flatMap(SequenceName.mentioned) { largest = max(largest, sequence) }
      }
    }
    books.setArtifacts(artifacts)
    books.nextSequence = largest + 1
  }

  /// Gives a folder the next sequence in the queue: the moment at which an artifact becomes one. Durable only after the
  /// queue folder was synced. Called on the committer's thread.
  func publish(_ name: String, in source: Directory, size: QueueBooks.Size) throws(SystemError) -> UInt64 {
    try books.withLock { (books: inout QueueBooks) throws(SystemError) in
      try load(&books)
      // Somebody else may have put a folder there by hand: it keeps its number.
      for _ in 0..<1000 {
        guard let sequence = books.nextSequence else { break }
        guard sequence <= SequenceName.largest else {
          throw SystemError(call: .rename, code: SequenceName.noneLeft, subject: folder.path)
        }
        books.nextSequence = sequence + 1
        do throws(SystemError) {
          try source.rename(name, to: queue, as: SequenceName.name(sequence), exclusive: true)
        } catch {
          if error.code == EEXIST { continue }
          books.nextSequence = sequence
          throw error
        }
        books.arrived(sequence, size)
        books.publish(sequence)
        return sequence
      }
      throw SystemError(call: .rename, code: EEXIST, subject: queuePath)
    }
  }

  /// Says that a published sequence may be announced; by whoever committed it, when that has ended.
  func settle(_ sequence: UInt64) { books.withLock { $0.settle(sequence) } }

  /// What was committed since the last call and may be delivered, in order: a sequence comes out only when every smaller
  /// one has.
  package func takeReady() -> [UInt64] { books.withLock { $0.takeReady() } }

  /// Gives an artifact that stands behind what was delivered a new sequence, as the last; durable when this returns.
  package func requeue(_ sequence: UInt64) throws(CommitError) {
    let name = SequenceName.name(sequence)
    let size = sizeIfMeasured(sequence) ?? QueueBooks.Size(parts: 0, bytes: 0)
    let queue: Directory
    do throws(SystemError) { queue = try self.queue } catch { throw .stepFailed(error) }
    let request = CommitRequest(parents: [queue]) { [self] () throws(SystemError) in
      let new = try publish(name, in: queue, size: size)
      books.withLock { $0.departed(sequence, size) }
      return new
    }
    settle(try committer.commit(request))
  }

  package var totals: QueueTotals { books.withLock { $0.totals } }
}
