// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `The bytes of a part` {
  private static let large = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

  private func worker(mode: String) throws -> WorkerUnderTest {
    let worker = try WorkerUnderTest()
    try worker.start(FixtureTarget.compile("hostile"), mode: mode)
    return worker
  }

  @Test(arguments: [0, 1, 7, 65535, 65536, 65537, 3_000_001])
  func `arrive whole, with the host asked before the last chunk`(count: Int) throws {
    let worker = try worker(mode: "ok")
    let bytes = Array(Self.large.prefix(count))
    try worker.deliver(bytes)
    let result = try #require(try worker.result())
    #expect(result == Reported(deliveryID: "delivery-1", returnCode: 0, verdict: WireVerdict(code: 1), source: .whole))
    #expect(worker.verifyRequests == [PartChecksum.of(bytes)])
    #expect(try worker.end() == 0)
  }

  @Test func `need no question when the host verified them before`() throws {
    let worker = try worker(mode: "ok")
    try worker.deliver(Self.large, verified: true)
    #expect(try worker.result()?.verdict.code == RELAY_DELIVERED)
    #expect(worker.verifyRequests.isEmpty)
  }

  @Test func `are asked about once, also when they are read again`() throws {
    let worker = try worker(mode: "rewind")
    try worker.deliver(Self.large)
    #expect(try worker.result()?.verdict.code == RELAY_DELIVERED)
    #expect(worker.verifyRequests.count == 1)
  }

  @Test func `end once and for all: reading on gives the end again`() throws {
    let worker = try worker(mode: "read-past")
    try worker.deliver(Self.large)
    #expect(try worker.result()?.verdict.code == RELAY_DELIVERED)
  }

  @Test(arguments: ["ok", "insist"])
  func `that don't match what was queued are no delivery`(mode: String) throws {
    let worker = try worker(mode: mode)
    worker.verifyAnswer = { (RELAY_FAILED, $0) }
    try worker.deliver(Self.large)
    let result = try #require(try worker.result())
    #expect(result.verdict.code == RELAY_RETRY && result.verdict.reason == RELAY_REASON_SOURCE)
    #expect(result.source == .failed)
  }

  @Test func `that changed after the host hashed them are no delivery`() throws {
    let worker = try worker(mode: "insist")
    worker.verifyAnswer = { (RELAY_OK, $0 ^ 1) }
    try worker.deliver(Self.large)
    #expect(try worker.result()?.verdict.reason == RELAY_REASON_SOURCE)
    let verified = try self.worker(mode: "insist")
    try verified.deliver(Self.large, verified: true, checksum: 5)
    let result = try #require(try verified.result())
    #expect(result.verdict.code == RELAY_RETRY && result.source == .failed)
    #expect(result.verdict.message.contains("changed"))
  }

  @Test(arguments: [(-1, "longer"), (1, "shorter"), (70_000, "shorter")])
  func `in a file of another length are no delivery`(difference: Int, word: String) throws {
    let worker = try worker(mode: "insist")
    try worker.deliver(Self.large, length: Self.large.count + difference)
    let result = try #require(try worker.result())
    #expect(result.verdict.code == RELAY_RETRY && result.verdict.reason == RELAY_REASON_SOURCE)
    #expect(result.verdict.message.contains(word))
    #expect(worker.verifyRequests.isEmpty)
  }

  @Test func `of length zero in a file that has some are no delivery`() throws {
    let worker = try worker(mode: "insist")
    try worker.deliver([1], length: 0)
    #expect(try worker.result()?.verdict.reason == RELAY_REASON_SOURCE)
  }

  @Test func `can be read though the target closed its descriptor`() throws {
    let worker = try worker(mode: "close-part")
    try worker.deliver(Self.large)
    #expect(try worker.result()?.source == .whole)
  }

  @Test func `left unread are reported as untouched`() throws {
    let worker = try worker(mode: "unread")
    try worker.deliver(Self.large)
    let result = try #require(try worker.result())
    #expect(result.verdict.code == RELAY_DELIVERED && result.source == .untouched)
  }

  @Test func `come again for a second delivery on the same worker`() throws {
    let worker = try worker(mode: "ok")
    worker.verifyAnswer = { (RELAY_FAILED, $0) }
    try worker.deliver(Self.large)
    #expect(try worker.result()?.source == .failed)
    worker.verifyAnswer = { (RELAY_OK, $0) }
    try worker.deliver(Self.large)
    #expect(try worker.result()?.source == .whole)
  }
}
