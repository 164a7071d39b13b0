// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `The example in C` {
  /// Built once: tests run side by side, and none may load what another one is just writing.
  private static let built = Result {
    let path = TemporaryFolder.shared.path("libappend.so")
    let result = try Command.run([
      "make", "-C", Repository.path("Examples/targets/c"), "INCLUDE=\(Repository.abiInclude)", "OUTPUT=\(path)",
    ])
    #expect(result.status == 0, "\(result.output)")
    return path
  }

  private func worker(appendingTo file: String) throws -> WorkerUnderTest {
    let worker = try WorkerUnderTest()
    try? worker.open(String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]), .write)
    try worker.start(Self.built.get(), mode: "", settings: [SettingEntry(path: "file", value: .text(file))])
    return worker
  }

  @Test func `appends part after part, and a repeat once only`() throws {
    let file = TemporaryFolder.shared.path("grown")
    let worker = try worker(appendingTo: file)
    try worker.deliver(Array("one\n".utf8))
    #expect(try worker.result()?.verdict == WireVerdict(code: RELAY_DELIVERED, bytesSent: 4))
    try worker.deliver(Array("one\n".utf8))
    #expect(try worker.result()?.verdict.code == RELAY_DELIVERED, "the verdict was lost, so the host repeats")
    #expect(try File.bytes(of: file) == Array("one\n".utf8))
    worker.state = [:]
    try worker.deliver(Array("two\n".utf8))
    #expect(try worker.result()?.verdict.code == RELAY_DELIVERED)
    #expect(try File.bytes(of: file) == Array("one\ntwo\n".utf8))
  }

  @Test func `leaves nothing of a part that turned out wrong`() throws {
    let file = TemporaryFolder.shared.path("untouched")
    try File.write("before\n".utf8, to: file)
    let worker = try worker(appendingTo: file)
    worker.verifyAnswer = { (RELAY_FAILED, $0) }
    try worker.deliver([UInt8](repeating: 65, count: 2_000_000))
    let verdict = try #require(try worker.result()).verdict
    #expect(verdict.code == RELAY_RETRY && verdict.reason == RELAY_REASON_SOURCE)
    #expect(try File.bytes(of: file) == Array("before\n".utf8))
  }

  @Test func `says what is wrong with the file`() throws {
    let worker = try worker(appendingTo: "/nonexistent/folder/file")
    try worker.deliver([1])
    let verdict = try #require(try worker.result()).verdict
    #expect(verdict.code == RELAY_NEEDS_ATTENTION && verdict.status == ENOENT)
    #expect(verdict.message == "can't open the file: No such file or directory")
  }
}
