// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Synchronization

/// What an inbox works with.
package struct InboxOptions: Sendable {
  package var folder: String
  /// Whether the folder is the pipeline's own, `<state>/pipelines/<id>/inbox`: only that one is made where it is missing.
  package var isOwn: Bool
  package var pipeline: PipelineFolder
  package var forbidden = ForbiddenPlaces.none
  /// In milliseconds: how long a file must look the same when a lease shows that nobody has it open for writing.
  package var quiet: Int64 = 2000
  /// In milliseconds: how long where a lease can't show that (another user's file, a network file system).
  package var quietWithoutLease: Int64 = 10_000
  /// So many files a look; what is left over is for the next one, at once.
  package var mostPerLook = 1000
  /// How the bytes are kept.
  package var encode: PartEncoding?
  /// Begins an artifact; with an identifier, that of an artifact which may have been delivered before a crash.
  package var stage: @Sendable (Identifier?) throws(QueueError) -> StagedArtifact
  /// Completes what was staged, for example with rendered settings.
  package var finish: @Sendable (StagedArtifact) throws(InboxRefusal) -> Void = { _ in }
  /// Told after each file, when it was committed and removed.
  package var committed: @Sendable (CommittedArtifact) -> Void = { _ in }
  /// Asked between files.
  package var shouldStop: @Sendable () -> Bool = { false }

  package init(
    folder: String, isOwn: Bool, pipeline: PipelineFolder,
    stage: @escaping @Sendable (Identifier?) throws(QueueError) -> StagedArtifact
  ) {
    self.folder = folder
    self.isOwn = isOwn
    self.pipeline = pipeline
    self.stage = stage
  }
}

/// What a look through an inbox came to.
package struct LookResult: Equatable, Sendable {
  /// Files that became artifacts.
  package var taken = 0
  /// Files that stay for now: not quiet yet, open for writing, unreadable.
  package var waiting = 0
  /// Milliseconds after which to look again at the latest; nil: the watch or the regular look is enough.
  package var lookAgain: Int64?
  package var problem: InboxProblem?
  /// Files that can't be taken, while others are.
  package private(set) var staying = 0
  package private(set) var firstStaying: String?

  /// What a person should know; nil when all is well.
  package var trouble: String? {
    if let problem { return problem.message }
    guard let firstStaying else { return nil }
    return staying == 1 ? firstStaying : "\(firstStaying); \(staying - 1) more stay in the inbox for such reasons"
  }

  mutating func stays(_ reason: String) {
    staying += 1
    firstStaying = firstStaying ?? reason
  }

  mutating func lookAgain(within milliseconds: Int64) {
    lookAgain = min(lookAgain ?? .max, max(0, milliseconds))
  }
}

/// Takes whole files out of one folder and makes an artifact of each.
///
/// A file is copied under a read lease, noted, given a dot name, committed, removed. So no bytes are lost: whatever ends
/// the program, the file is still there or the artifact is durable. None is taken twice either, but for one case: the
/// program ends between commit and removal, and in that moment the artifact was delivered without an entry in the
/// delivery log that is still there. Then the repeat has the artifact id of the first.
package final class Inbox: Sendable {
  let options: InboxOptions
  private let log: any LogSink
  private let memory = Mutex(InboxMemory())

  package init(_ options: InboxOptions, log: any LogSink = NoLog()) {
    self.options = options
    self.log = log
  }

  /// Looks once and takes what is whole. Blocks on the disk; a second call waits for the first.
  ///
  /// - Parameter now: On the clock that never steps; quiet times are counted from look to look.
  package func look(now: BootTime = .now) -> LookResult {
    memory.withLock { memory in
      let start = memory
      memory = InboxMemory()
      var look = InboxLook(options: options, log: log, now: now, memory: start)
      look.run()
      memory = look.memory
      return look.result
    }
  }
}

/// What an inbox remembers between looks.
struct InboxMemory: Sendable {
  var quiet = QuietTable()
  var troubles = InboxTroubles()
  /// The last one said.
  var problem: InboxProblem?
  var hasReadNote = false
  var unfinished: UnfinishedTaking?
  /// It was not found in the queue after a crash: if it is taken again, then under the same identifier.
  var perhapsTaken: TakingNote?
}
