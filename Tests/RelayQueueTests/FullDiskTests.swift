// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

/// Mounts a small file system for one test.
private func withSmallDisk(_ options: String, _ body: (Directory) throws -> Void) throws {
  try withFolder { folder in
    guard mount("tmpfs", folder.path, "tmpfs", 0, options) == 0 else {
      print("skipped: a tmpfs can't be mounted here (\(SystemError.text(of: errno))); run as root")
      return
    }
    defer { umount2(folder.path, Int32(MNT_DETACH)) }
    try body(try Directory(folder.path))
  }
}

@Suite struct `A full disk` {
  private let noReserve = QueueLimits(freeBytes: 0, freeInodes: 0)

  private func isFull(_ error: any Error) -> Bool {
    if case .diskFull? = error as? QueueError { true } else { false }
  }

  private func pipeFed(with bytes: [UInt8]) throws -> Descriptor {
    let pipe = try UnixSocket.pipe()
    let write = pipe.write
    signal(SIGPIPE, SIG_IGN)
    try startThread("writer") { try? write.write(bytes) }
    return pipe.read
  }

  @Test func `refuses new artifacts, keeps the old, still takes marks, and heals by itself`() throws {
    try withSmallDisk("size=4m") { disk in
      let pipeline = try StateFolder.open(disk.path).pipeline("scans")
      let chunk = [UInt8](repeating: 1, count: 300_000)
      var committed = 0
      var failure: (any Error)?
      while failure == nil && committed < 100 {
        do {
          let staged = try pipeline.stage(limits: noReserve)
          // Through a pipe, so that the size isn't known before.
          let read = try pipeFed(with: chunk)
          try staged.addPart(name: "x", from: read)
          _ = try staged.commit()
          committed += 1
        } catch {
          failure = error
        }
      }
      #expect(failure.map(isFull) == true)
      #expect(committed > 5)
      // To the last byte.
      let filler = try pipeline.folder.createFile("filler")
      while (try? filler.write([UInt8](repeating: 0, count: 4096))) != nil {}
      while (try? filler.write([0])) != nil {}
      #expect(try disk.spaceLeft().bytes == 0)
      for number in 1...8 {
        var record = MarkRecord()
        record.headPartsDone = UInt32(number)
        try pipeline.marks.write(record)
      }
      let recovery = try pipeline.recover()
      #expect(recovery == Recovery(sequences: (1...UInt64(committed)).map { $0 }))
      #expect(try pipeline.queue.names().count == committed)
      for sequence in recovery.sequences { #expect(damage(of: pipeline, sequence) == nil) }
      try pipeline.setAside(1, reason: SetAsideReason(verdict: "refused", message: "x"))
      try pipeline.remove(2)
      try pipeline.folder.remove("filler")
      try filler.truncate(to: 0)
      _ = try pipeline.stage(limits: noReserve)
    }
  }

  @Test func `with no more than the reserve says so, and how much it is`() throws {
    try withSmallDisk("size=20m") { disk in
      let pipeline = try StateFolder.open(disk.path).pipeline("scans")
      let source = try disk.createFile("large")
      try source.write([UInt8](repeating: 1, count: 3_000_000))
      let staged = try pipeline.stage()
      let refused = #expect(throws: QueueError.self) { try staged.addPart(name: "x", from: source) }
      let words = refused?.message ?? ""
      #expect(words.contains("MB free and this needs 3 MB, but 16 MB are kept as a reserve"), "\(words)")
      try source.write([UInt8](repeating: 1, count: 2_000_000))
      let atOnce = #expect(throws: QueueError.self) { try pipeline.stage() }
      #expect(atOnce?.message.contains("MB free, but 16 MB are kept as a reserve") == true)
      let files = #expect(throws: QueueError.self) {
        try pipeline.stage(limits: QueueLimits(freeBytes: 0, freeInodes: .max))
      }
      #expect(files?.message.contains("more files, of which") == true)
      #expect(try pipeline.queue.names().isEmpty)
    }
  }

  @Test func `without inodes refuses, and leaves nothing`() throws {
    try withSmallDisk("size=4m,nr_inodes=40") { disk in
      let pipeline = try StateFolder.open(disk.path).pipeline("scans")
      var failure: (any Error)?
      for _ in 0..<100 where failure == nil {
        do {
          let staged = try pipeline.stage(limits: noReserve)
          for _ in 0..<3 { try staged.addPart(name: "x", from: try pipeFed(with: [1])) }
          _ = try staged.commit()
        } catch {
          failure = error
        }
      }
      #expect(failure.map(isFull) == true)
      #expect(try pipeline.queue.names().allSatisfy { !$0.hasPrefix(".") })
      #expect(try pipeline.recover().problems == [])
    }
  }

  @Test func `a pipeline on a file system of its own is synced there`() throws {
    try withFolder { folder in
      let path = folder.path + "/state"
      do { _ = try StateFolder.open(path).pipeline("scans") }
      let mounted = path + "/pipelines/scans"
      guard mount("tmpfs", mounted, "tmpfs", 0, "size=1m") == 0 else {
        return print("skipped: a tmpfs can't be mounted here (\(SystemError.text(of: errno))); run as root")
      }
      defer { umount2(mounted, Int32(MNT_DETACH)) }
      let pipeline = try StateFolder.open(path).pipeline("scans")
      let source = try file("x", in: pipeline.folder)
      let staged = try pipeline.stage(limits: noReserve)
      for _ in 0..<20 { try staged.addPart(name: "x", from: source) }
      let error = SystemError(call: .syncFileSystem, code: EIO, subject: mounted)
      FaultDoor.with([Fault(.syncFileSystem, on: mounted, .fails(EIO))]) {
        #expect(throws: QueueError.notCommitted(error)) { try staged.commit() }
      }
    }
  }
}
