// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelaySystem
import Synchronization

/// Puts changes on the disk for many at once: a batch is what arrived while the last one was syncing.
///
/// One for each file system. Who may wait and finds nothing under way syncs by itself, which saves the change to another
/// thread; all else is done by a thread of its own. A failed sync fails all of its batch and is never tried again: the kernel
/// forgets what it could not write, so a second sync that succeeds proves nothing. When the last reference goes, what
/// waits is still committed.
package final class Committer: Sendable {
  private let core: CommitterCore

  /// - Parameter fileSystem: any folder of the file system; stays open, because an error is told only to descriptors
  ///   that were open when it happened.
  package init(fileSystem: Directory) throws(SystemError) {
    let core = CommitterCore(fileSystem)
    try startThread("committer") { core.run() }
    self.core = core
  }

  deinit { core.close() }

  /// Commits soon; `then` is called on the thread that syncs, so it must be short and must not wait for a commit.
  ///
  /// - Parameter mayWait: whether this thread may be the one that syncs; then it must hold nothing that a step or `then` needs.
  package func commit(
    _ request: CommitRequest, mayWait: Bool = false, then: @escaping @Sendable (Result<UInt64, CommitError>) -> Void
  ) {
    core.add(request, mayLead: mayWait, then)
  }

  /// Commits and waits; returns what the request's step returned, else 0.
  @discardableResult
  package func commit(_ request: CommitRequest) throws(CommitError) -> UInt64 {
    let reply = Reply<Result<UInt64, CommitError>>()
    core.add(request, mayLead: true) { reply.set($0) }
    return try reply.wait().get()
  }
}

/// What is committed, by whom it may be; outlives the committer until all that waited is done.
private final class CommitterCore: Sendable {
  typealias Completion = @Sendable (Result<UInt64, CommitError>) -> Void

  private struct State {
    var waiting: [(request: CommitRequest, then: Completion)] = []
    /// A batch is being synced, or the thread was told to.
    var isBusy = false
    var isClosed = false
  }

  let fileSystem: Directory
  private let state = Mutex(State())
  /// Belongs to whoever syncs.
  private let choice = Mutex(SyncChoice())
  private let arrivals = DispatchSemaphore(value: 0)

  init(_ fileSystem: Directory) { self.fileSystem = fileSystem }

  func add(_ request: CommitRequest, mayLead: Bool, _ then: @escaping Completion) {
    let begins = state.withLock { state in
      state.waiting.append((request, then))
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard begins else { return }
    if mayLead {
      runBatch()
      // What came meanwhile is not this thread's business.
      guard goesOn() else { return }
    }
    arrivals.signal()
  }

  func close() {
    state.withLock { $0.isClosed = true }
    arrivals.signal()
  }

  func run() {
    while true {
      arrivals.wait()
      while goesOn() { runBatch() }
      if state.withLock({ $0.isClosed && !$0.isBusy }) { return }
    }
  }

  /// Whether something waits; if not, the next one begins anew.
  private func goesOn() -> Bool {
    state.withLock { state in
      if state.waiting.isEmpty { state.isBusy = false }
      return state.isBusy
    }
  }

  private func runBatch() {
    let batch = state.withLock { state in
      let taken = state.waiting
      state.waiting = []
      return taken
    }
    let results = choice.withLock { choice in
      CommitBatch(fileSystem: fileSystem, requests: batch.map(\.request)).run(&choice)
    }
    for (entry, result) in zip(batch, results) { entry.then(result) }
  }
}

/// One batch: contents, then steps, then the folders that show them.
private struct CommitBatch {
  let fileSystem: Directory
  let requests: [CommitRequest]

  func run(_ choice: inout SyncChoice) -> [Result<UInt64, CommitError>] {
    do throws(SystemError) {
      try syncContents(&choice)
    } catch {
      return requests.map { _ in .failure(.notSynced(error)) }
    }
    let stepped = requests.map { request in
      do throws(SystemError) {
        return Result<UInt64, CommitError>.success(try request.step?() ?? 0)
      } catch {
        return .failure(.stepFailed(error))
      }
    }
    return syncParents(after: stepped, &choice)
  }

  private func syncContents(_ choice: inout SyncChoice) throws(SystemError) {
    let syncs = requests.reduce(0) { $0 + $1.syncs }
    guard syncs > 0 else { return }
    let start = BootTime.now
    if choice.wantsAll(syncs) {
      try fileSystem.descriptor.syncFileSystem()
      choice.tookAll(BootTime.now.nanoseconds &- start.nanoseconds)
      return
    }
    for request in requests {
      for file in request.files { try file.sync() }
      for file in request.dataOnly { try file.syncData() }
      for folder in request.folders { try folder.sync() }
    }
    choice.tookSingle(BootTime.now.nanoseconds &- start.nanoseconds, syncs: syncs)
  }

  private func syncParents(
    after stepped: [Result<UInt64, CommitError>], _ choice: inout SyncChoice
  ) -> [Result<UInt64, CommitError>] {
    var parents: [ObjectIdentifier: Directory] = [:]
    for (request, result) in zip(requests, stepped) {
      guard case .success = result else { continue }
      for parent in request.parents { parents[ObjectIdentifier(parent)] = parent }
    }
    guard !parents.isEmpty else { return stepped }
    var failures: [ObjectIdentifier: SystemError] = [:]
    let start = BootTime.now
    if choice.wantsAll(parents.count) {
      do throws(SystemError) {
        try fileSystem.descriptor.syncFileSystem()
        choice.tookAll(BootTime.now.nanoseconds &- start.nanoseconds)
      } catch {
        for key in parents.keys { failures[key] = error }
      }
    } else {
      for (key, parent) in parents {
        do throws(SystemError) { try parent.sync() } catch { failures[key] = error }
      }
      choice.tookSingle(BootTime.now.nanoseconds &- start.nanoseconds, syncs: parents.count)
    }
    return zip(requests, stepped).map { request, result in
      guard case .success = result else { return result }
      let failure = request.parents.lazy.compactMap { failures[ObjectIdentifier($0)] }.first
      return failure.map { .failure(.unknown($0)) } ?? result
    }
  }
}
