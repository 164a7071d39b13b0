// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import RelayWorkerProtocol
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `A target that ends the worker` {
  @Test(arguments: [
    ("segv", -SIGSEGV), ("abort", -SIGABRT), ("ill", -SIGILL), ("exit0", 0), ("_exit0", 0), ("exit-thread", 0),
    ("open-crash", -SIGABRT), ("open-exit", 0), ("close-line", RELAY_EXIT_PROTOCOL),
  ])
  func `leaves no verdict, only the way it ended`(mode: String, status: Int32) throws {
    let outcome = try deliver(mode: mode)
    #expect(outcome.result == nil)
    #expect(try outcome.worker.exitStatus() == status)
  }

  @Test(.enabled(if: !Sanitizer.isOn, "\(Sanitizer.memoryReason)"))
  func `by running out of the memory it may use leaves no verdict`() throws {
    let outcome = try deliver(mode: "oom", limits: WorkerLimits(memory: 512 << 20))
    #expect(outcome.result == nil)
    #expect(try outcome.worker.exitStatus() == -SIGABRT)
  }

  @Test func `right after it saved something has saved it`() throws {
    let outcome = try deliver(mode: "state-then-crash")
    #expect(outcome.result == nil)
    #expect(outcome.worker.state == ["1/sent": Array("12".utf8)])
    #expect(try outcome.worker.exitStatus() == -SIGABRT)
  }

  @Test func `amid a forged result leaves no verdict`() throws {
    let outcome = try deliver(mode: "half-result")
    #expect(outcome.result == nil)
    #expect(try outcome.worker.exitStatus() == -SIGABRT)
  }

  @Test(arguments: ["atexit-crash", "close-crash", "close-print"])
  func `after the verdict can't take it back`(mode: String) throws {
    let outcome = try deliver(mode: mode)
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    try outcome.worker.send(.leave, request: 9)
    #expect(try outcome.worker.exitStatus() == (mode == "close-crash" ? -SIGABRT : RELAY_EXIT_DONE))
    #expect(mode != "close-print" || outcome.worker.printed == Array("closed".utf8))
  }
}

@Suite struct `A target that hangs` {
  private func hang(_ mode: String) throws -> WorkerUnderTest {
    let worker = try WorkerUnderTest()
    try worker.start(FixtureTarget.compile("hostile"), mode: mode)
    try worker.deliver([1, 2, 3])
    try worker.receive { $0 == .log(level: RELAY_LOG_INFO, "hanging") }
    return worker
  }

  @Test func `is told to stop through should_stop, and read stops too`() throws {
    let worker = try hang("hang-cancel")
    worker.cancel()
    let result = try #require(try worker.result())
    #expect(result.verdict.code == RELAY_CANCELLED && result.source == .untouched)
  }

  @Test func `is told to stop when the other end of cancel is closed`() throws {
    let worker = try hang("hang-cancel")
    worker.closeCancel()
    #expect(try worker.result()?.verdict.code == RELAY_CANCELLED)
  }

  @Test func `ends by SIGTERM to its group, or by SIGKILL if it ignores that`() throws {
    let polite = try hang("hang")
    #expect(kill(-polite.pid, SIGTERM) == 0)
    #expect(try polite.exitStatus() == -SIGTERM)
    let stubborn = try hang("ignore-term")
    #expect(kill(-stubborn.pid, SIGTERM) == 0)
    #expect(throws: WorkerUnderTest.Silence.self) { try stubborn.exitStatus(within: 0.2) }
    #expect(kill(-stubborn.pid, SIGKILL) == 0)
    #expect(try stubborn.exitStatus() == -SIGKILL)
  }
}

@Suite struct `A target that is a nuisance` {
  @Test(arguments: [
    "print-much", "print-no-newline", "flood-log", "fork-child", "double-fork", "thread-left", "process-state",
    "size-large",
  ])
  func `is heard to the end and its verdict counts`(mode: String) throws {
    let outcome = try deliver(mode: mode)
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    #expect(outcome.result?.source == .whole)
    try outcome.worker.deliver([4, 5])
    #expect(try outcome.worker.result()?.verdict.code == RELAY_DELIVERED, "the worker is still of use")
    #expect(try outcome.worker.end() == RELAY_EXIT_DONE)
    switch mode {
    case "print-much": #expect(outcome.worker.printedBytes == 2 * 1600 * 65536)
    case "print-no-newline": #expect(outcome.worker.printed == Array("no newlineno newline".utf8))
    case "flood-log": #expect(outcome.worker.logLines.count == 10_000)
    default: break
    }
  }

  @Test(arguments: [("verdict-0", 0), ("verdict-99", 99), ("verdict-minus-1", -1), ("size-small", 0)])
  func `has its nonsense passed on as a number`(mode: String, code: Int32) throws {
    #expect(try deliver(mode: mode).result?.verdict.code == code)
  }

  @Test func `has no verdict when its function says that it failed`() throws {
    let result = try #require(try deliver(mode: "return-1").result)
    #expect(result.returnCode == 1 && result.verdict.code == RELAY_NONE)
  }

  @Test func `flooding progress is heard ten times a second at most`() throws {
    let start = monotonicSeconds()
    let outcome = try deliver(mode: "flood-progress")
    let seconds = monotonicSeconds() - start
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    let heard = outcome.worker.frames.count { if case .progress = $0.message { true } else { false } }
    #expect(heard >= 1 && Double(heard) <= seconds * 10 + 1)
  }

  @Test func `may ask for any wait`() throws {
    #expect(try deliver(mode: "retry-after-huge").result?.verdict.retryAfterMilliseconds == 1 << 63)
  }

  @Test func `has its words made fit for people`() throws {
    let outcome = try deliver(mode: "bad-message")
    let verdict = try #require(outcome.result).verdict
    #expect(verdict.message.hasPrefix("a?b?[31mred??? ?end éé"))
    #expect(verdict.message.utf8.count <= 4096 && verdict.message.utf8.count > 4090)
    #expect(verdict.receipt.utf8.count <= 1024 && verdict.receipt.last == "é")
    #expect(outcome.worker.logLines.contains(verdict.message))
    #expect(outcome.worker.logLines.contains(""))
  }

  @Test func `can't save ten megabytes`() throws {
    let outcome = try deliver(mode: "state-large")
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    #expect(outcome.worker.logLines.contains("denied"))
    #expect(outcome.worker.state.isEmpty)
  }

  @Test func `may log, show progress and ask to stop from any thread, and nothing else`() throws {
    let outcome = try deliver(mode: "threads")
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    for line in ["from another thread", "should go on", "denied", "read denied"] {
      #expect(outcome.worker.logLines.contains(line))
    }
    #expect(outcome.worker.logLines.contains { $0.contains("setting_integer from a thread other") })
    #expect(outcome.worker.frames.contains { $0.message == .progress(done: 1, total: 2) })
  }

  @Test func `with a thread that outlives the call tells that thread to stop`() throws {
    let outcome = try deliver(mode: "thread-left")
    try outcome.worker.receive { $0 == .log(level: RELAY_LOG_INFO, "outlived") }
    #expect(outcome.worker.logLines.contains("outlived"))
  }

  @Test func `writing garbage on the line makes it unreadable`() throws {
    #expect(throws: WireError.self) { try deliver(mode: "garbage-line") }
  }

  @Test func `forging a result shows as a second one for the same request`() throws {
    let outcome = try deliver(mode: "forged-result")
    #expect(outcome.result?.verdict.code == RELAY_DELIVERED)
    #expect(outcome.result?.source == .untouched)
    #expect(try outcome.worker.result()?.source == .whole)
    #expect(outcome.worker.frames.suffix(1).map(\.requestID) == [WorkerUnderTest.deliverRequest])
  }
}

@Suite struct `A target that doesn't open` {
  @Test func `has its reason repeated to each delivery that was sent ahead`() throws {
    let outcome = try deliver(mode: "open-attention")
    let expected = WireVerdict(code: RELAY_NEEDS_ATTENTION, message: "the settings can't work")
    #expect(outcome.worker.frames.contains { $0.message == .opened(returnCode: 1, expected) })
    #expect(outcome.result?.verdict == expected && outcome.result?.deliveryID == "delivery-1")
  }

  @Test func `can't pass its opening off as a delivery`() throws {
    #expect(try deliver(mode: "open-delivered").result?.verdict.code == RELAY_NONE)
  }
}
