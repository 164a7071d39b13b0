// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import RelaySystem
import Synchronization
import Testing

private actor Counter {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private(set) var count = 0
  init(_ loop: EventLoop) { self.loop = loop }
  func add() -> Bool {
    count += 1
    return loop.isCurrent
  }
}

private func withLoop<T>(_ body: (EventLoop) async throws -> T) async throws -> T {
  let loop = try EventLoop()
  try startThread("test-loop") { loop.run() }
  defer { loop.stop() }
  return try await body(loop)
}

@Suite struct `Event loop` {
  @Test func `an actor with the loop as its executor runs on the loop's thread`() async throws {
    try await withLoop { loop in
      let counter = Counter(loop)
      for _ in 0..<100 { #expect(await counter.add()) }
      #expect(await counter.count == 100)
    }
  }

  @Test func `posted work, timers and descriptors all come through`() async throws {
    try await withLoop { loop in
      let (near, far) = try UnixSocket.pair()
      let seen = Mutex<[String]>([])
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        loop.post { seen.withLock { $0.append("posted") } }
        loop.setTimer(TimerKey("test", "moved"), at: .now) { seen.withLock { $0.append("wrong") } }
        loop.setTimer(TimerKey("test", "moved"), at: nil)
        loop.setTimer(TimerKey("test", "timer"), at: BootTime.now.advanced(milliseconds: 5)) {
          seen.withLock { $0.append("timer") }
          _ = try? far.send([1])
        }
        try? loop.watch(near, for: .readable) { _ in
          loop.forget(near)
          seen.withLock { $0.append("readable") }
          done.resume()
        }
      }
      #expect(seen.withLock { $0.filter { $0 != "wrong" } } == ["posted", "timer", "readable"])
    }
  }

  @Test func `descriptors travel over a socket and keep their offset`() throws {
    try withFolder { folder in
      try folder.replace("part", with: Array("hello".utf8))
      let (near, far) = try UnixSocket.pair()
      let file = try folder.openFile("part")
      #expect(try near.send([7], with: [file]) == 1)
      let received = try #require(try far.receive())
      #expect(Array(received.bytes) == [7])
      let copy = try #require(received.descriptors.first)
      var room = [UInt8](repeating: 0, count: 3)
      #expect(try room.withUnsafeMutableBytes { try copy.read(into: $0) } == 3)
      #expect(try file.offset() == 3)
    }
  }

  @Test func `a child's output, exit and signals are seen`() throws {
    let (read, write) = try UnixSocket.pipe()
    let null = try Directory("/dev").descriptor
    let child = try ChildProcess(
      .init(
        program: "/bin/sh", arguments: ["-c", "echo $RELAY; exit 3"], environment: ["RELAY": "here"],
        descriptors: [null, write, write]))
    #expect(child.end(wait: true) == .exited(3))
    #expect(try read.receiveFromPipe() == "here\n")
    let sleeper = try ChildProcess(.init(program: "/bin/sleep", arguments: ["1000"], descriptors: [null, null, null]))
    #expect(sleeper.end() == nil)
    sleeper.signalGroup(SIGKILL)
    #expect(sleeper.end(wait: true) == .killed(signal: SIGKILL))
  }
}

extension Descriptor {
  fileprivate func receiveFromPipe() throws -> String {
    var room = [UInt8](repeating: 0, count: 100)
    let got = try room.withUnsafeMutableBytes { try read(into: $0) } ?? 0
    return String(decoding: room.prefix(got), as: UTF8.self)
  }
}
