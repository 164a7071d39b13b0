// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelayQueue
import RelaySystem
import Synchronization
import Testing

/// Keeps a committer busy, so that what is handed in meanwhile becomes one batch.
private final class Gate: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let open = DispatchSemaphore(value: 0)

  init(_ committer: Committer) {
    let entered = entered
    let open = open
    let request = CommitRequest { () throws(SystemError) in
      entered.signal()
      open.wait()
      return 0
    }
    committer.commit(request) { _ in }
    entered.wait()
  }

  func release() { open.signal() }
}

/// Collects results that come on another thread.
private final class Results: Sendable {
  private let results: Mutex<[Int: Result<UInt64, CommitError>]> = Mutex([:])
  private let arrivals = DispatchSemaphore(value: 0)

  func set(_ place: Int, _ result: Result<UInt64, CommitError>) {
    results.withLock { $0[place] = result }
    arrivals.signal()
  }

  func wait(for count: Int) -> [Result<UInt64, CommitError>] {
    for _ in 0..<count { arrivals.wait() }
    return results.withLock { all in (0..<count).compactMap { all[$0] } }
  }
}

@Suite struct `The committer` {
  private func failures(_ results: [Result<UInt64, CommitError>]) -> [CommitError?] {
    results.map { if case .failure(let error) = $0 { error } else { nil } }
  }

  /// Commits requests as one batch.
  private func batch(_ committer: Committer, _ requests: [CommitRequest]) -> [Result<UInt64, CommitError>] {
    let gate = Gate(committer)
    let results = Results()
    for (place, request) in requests.enumerated() { committer.commit(request) { results.set(place, $0) } }
    gate.release()
    return results.wait(for: requests.count)
  }

  @Test func `the step is done once contents are on the disk, and returns its value`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let file = try folder.createFile("a")
      let request = CommitRequest(files: [file], parents: [folder]) { () throws(SystemError) in
        try folder.rename("a", to: folder, as: "b")
        return 42
      }
      FaultDoor.with([Fault(.sync, on: folder.path + "/a", .fails(EIO))]) {
        let error = SystemError(call: .sync, code: EIO, subject: file.path)
        #expect(throws: CommitError.notSynced(error)) { try committer.commit(request) }
      }
      #expect(try folder.names() == ["a"])
      #expect(try committer.commit(request) == 42)
      #expect(try folder.names() == ["b"])
    }
  }

  @Test func `a step that fails concerns only its own request`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let wrong = SystemError(call: .rename, code: ENOSPC, subject: "x")
      let results = batch(
        committer,
        [
          CommitRequest { () throws(SystemError) in 1 },
          CommitRequest { () throws(SystemError) in throw wrong },
          CommitRequest { () throws(SystemError) in 3 },
        ])
      #expect(results == [.success(1), .failure(.stepFailed(wrong)), .success(3)])
    }
  }

  @Test func `when the parent can't be synced the outcome is unknown, for those who share it`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let (one, two) = (try folder.ensureFolder("one"), try folder.ensureFolder("two"))
      let error = SystemError(call: .sync, code: EIO, subject: one.path)
      FaultDoor.with([Fault(.sync, on: one.path, .fails(EIO))]) {
        let results = batch(
          committer,
          [CommitRequest(parents: [one]), CommitRequest(parents: [two]), CommitRequest(parents: [one, two])])
        #expect(failures(results) == [.unknown(error), nil, .unknown(error)])
      }
    }
  }

  @Test func `each parent is synced once for a batch`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let parent = try folder.ensureFolder("parent")
      FaultDoor.with([Fault(.sync, on: parent.path, .fails(EIO), after: 1)]) {
        let results = batch(committer, (0..<6).map { _ in CommitRequest(parents: [parent]) })
        #expect(failures(results).allSatisfy { $0 == nil })
      }
    }
  }

  @Test func `a failed sync fails its whole batch and not the next`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let files = try (0..<4).map { try folder.createFile("f\($0)") }
      let error = SystemError(call: .sync, code: EIO, subject: files[2].path)
      let requests = files.map { CommitRequest(files: [$0]) }
      FaultDoor.with([Fault(.sync, on: files[2].path, .fails(EIO), times: 1)]) {
        #expect(failures(batch(committer, requests)).allSatisfy { $0 == .notSynced(error) })
        #expect(failures(batch(committer, [requests[0]])) == [nil])
      }
    }
  }

  @Test func `from eight waiting on the file system is synced at once, below that file by file`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let files = try (0..<8).map { try folder.createFile("f\($0)") }
      FaultDoor.with([Fault(.syncFileSystem, on: folder.path, .fails(EIO))]) {
        let seven = batch(committer, files.prefix(7).map { CommitRequest(dataOnly: [$0]) })
        #expect(failures(seven).allSatisfy { $0 == nil })
        let eight = batch(committer, files.map { CommitRequest(dataOnly: [$0]) })
        let error = SystemError(call: .syncFileSystem, code: EIO, subject: folder.path)
        #expect(failures(eight).allSatisfy { $0 == .notSynced(error) })
      }
    }
  }

  @Test func `two thousand can wait`() throws {
    try withFolder { folder in
      let committer = try Committer(fileSystem: folder)
      let file = try folder.createFile("f")
      let results = batch(
        committer,
        (0..<2000).map { place in CommitRequest(dataOnly: [file]) { () throws(SystemError) in UInt64(place) } })
      #expect(results == (0..<2000).map { .success($0) })
    }
  }

  @Test func `what waits is still committed when the committer goes`() throws {
    try withFolder { folder in
      let results = Results()
      let gate: Gate
      do {
        let committer = try Committer(fileSystem: folder)
        gate = Gate(committer)
        for place in 0..<3 {
          committer.commit(CommitRequest { () throws(SystemError) in UInt64(place) }) { results.set(place, $0) }
        }
      }
      gate.release()
      #expect(results.wait(for: 3) == [.success(0), .success(1), .success(2)])
    }
  }

  @Test func `syncing all is left off while it costs more, and tried again after a while`() {
    var choice = SyncChoice()
    func wants(_ count: Int) -> Bool { choice.wantsAll(count) }
    #expect(!wants(7))
    #expect(wants(8))
    choice.tookSingle(1000, syncs: 10)
    #expect(wants(8), "not measured yet")
    choice.tookAll(801)
    #expect(!wants(8))
    #expect(wants(9), "900 one by one")
    let tries = (0..<64).filter { _ in wants(8) }
    #expect(tries.count == 2)
    for _ in 0..<10 { choice.tookAll(100) }
    #expect(wants(8))
  }
}
