// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import RelayWorkerProtocol
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `Loading a target` {
  private static var all: [KernelConfinement.Piece] {
    KernelConfinement.Piece.allCases.filter { !KernelConfinement.ofThisMachine.lacking.contains($0) }
  }

  private func load(_ path: String) throws -> (message: WorkerMessage?, worker: WorkerUnderTest) {
    let worker = try WorkerUnderTest()
    try worker.send(.load(path: path, pipelineID: "p", limits: WorkerLimits()), request: 7)
    let message = try worker.receive {
      switch $0 {
      case .loaded, .loadFailed: true
      default: false
      }
    }
    return (message, worker)
  }

  private func failure(_ path: String) throws -> (LoadFailure, String)? {
    guard case .loadFailed(let failure, let text)? = try load(path).message else { return nil }
    return (failure, text)
  }

  @Test func `begins with a greeting that names the protocol's version`() throws {
    let worker = try WorkerUnderTest()
    try worker.receive { _ in true }
    #expect(worker.frames == [WorkerFrame(requestID: 0, message: .hello(version: RELAY_PROTOCOL_VERSION))])
    #expect(try worker.end() == RELAY_EXIT_DONE)
  }

  @Test func `tells the target's ABI and which optional functions it has`() throws {
    let hostile = try load(FixtureTarget.compile("hostile"))
    #expect(hostile.message == .loaded(abi: 1, hasCheck: true, hasClose: true))
    #expect(hostile.worker.frames.last?.requestID == 7)
    #expect(
      try load(FixtureTarget.compile("probe")).message
        == .loaded(abi: 1, hasCheck: false, hasClose: false))
  }

  @Test func `takes a newer minor version`() throws {
    let path = try FixtureTarget.compile("hostile", ["ABI_MINOR=9"])
    #expect(try load(path).message == .loaded(abi: 9, hasCheck: true, hasClose: true))
  }

  @Test func `refuses another major version and names both`() throws {
    let found = try #require(try failure(FixtureTarget.compile("hostile", ["ABI_MAJOR=7"])))
    #expect(found.0 == .abiMismatch)
    #expect(found.1.contains("7.1") && found.1.contains("0.1"))
  }

  @Test func `names the function or symbol that is missing`() throws {
    let deliver = try #require(try failure(FixtureTarget.compile("hostile", ["NO_DELIVER"])))
    #expect(deliver.0 == .missingSymbol)
    #expect(deliver.1.contains("relay_target_deliver"))
    let undefined = try #require(try failure(FixtureTarget.compile("hostile", ["UNDEFINED_SYMBOL"])))
    #expect(undefined.0 == .cannotLoad)
    #expect(undefined.1.contains("nobody_defines_this"))
  }

  @Test func `refuses what isn't a shared object, isn't there, or isn't an absolute path`() throws {
    let text = TemporaryFolder.shared.path("text.so")
    try File.write("not a library".utf8, to: text)
    #expect(try failure(text)?.0 == .cannotLoad)
    #expect(try failure("/nonexistent/x.so")?.0 == .cannotLoad)
    #expect(try failure("libc.so.6")?.0 == .badPath)
    #expect(try failure("")?.0 == .badPath)
    #expect(try failure("/a\0b")?.0 == .badPath)
  }

  @Test func `goes on listening after a failure and leaves when told to`() throws {
    let worker = try WorkerUnderTest()
    try worker.start("/nonexistent/x.so", mode: "ok")
    try worker.deliver([1])
    try worker.send(.leave, request: 4)
    #expect(try worker.receive { _ in false } == nil)
    // The greeting, what it is kept from, and the failure.
    #expect(worker.frames.count == 3)
    #expect(try worker.exitStatus() == RELAY_EXIT_DONE)
  }

  @Test(arguments: ["CRASH_IN_CONSTRUCTOR", "CRASH_IN_ABI"])
  func `dies of a target that crashes while it is loaded`(define: String) throws {
    let outcome = try load(FixtureTarget.compile("hostile", [define]))
    #expect(outcome.message == nil)
    #expect(try outcome.worker.exitStatus() == -SIGABRT)
  }
}

@Suite struct `Describing a target` {
  private func describe(_ path: String) throws -> WorkerUnderTest {
    let worker = try WorkerUnderTest()
    try worker.send(.load(path: path, pipelineID: "p", limits: WorkerLimits()), request: 1)
    try worker.send(.describe, request: 2)
    return worker
  }

  private func manifests(_ worker: WorkerUnderTest) throws -> [String] {
    let last = try worker.receive { if case .described = $0 { true } else { false } }
    #expect(last == .described(returnCode: 0))
    return worker.frames.compactMap {
      if case .manifest(let json) = $0.message { String(decoding: json, as: UTF8.self) } else { nil }
    }
  }

  @Test func `hands the manifest over as it is, broken or missing too`() throws {
    let good = try manifests(describe(FixtureTarget.compile("hostile")))
    #expect(good.count == 1 && good[0].hasPrefix("{\"id\": \"org.example.hostile\"") && good[0].hasSuffix("}}}}"))
    #expect(
      try manifests(describe(FixtureTarget.compile("hostile", ["BAD_MANIFEST"]))) == [
        "{\"id\": \"org.example.hostile\", "
      ])
    #expect(try manifests(describe(FixtureTarget.compile("hostile", ["NO_MANIFEST"]))) == [])
  }

  @Test func `denies a second manifest, settings and state`() throws {
    let worker = try describe(FixtureTarget.compile("probe"))
    #expect(try manifests(worker) == ["{\"id\": \"org.example.probe\"}"])
    for fact in ["early setting!2", "early state!2", "second manifest!2"] { #expect(worker.logLines.contains(fact)) }
  }

  @Test func `can be ended while it hangs`() throws {
    let worker = try describe(FixtureTarget.compile("hostile", ["HANG_IN_DESCRIBE"]))
    try worker.receive { if case .loaded = $0 { true } else { false } }
    kill(-worker.pid, SIGTERM)
    #expect(try worker.exitStatus() == -SIGTERM)
  }
}
