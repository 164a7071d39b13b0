// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import RelayWorkerProtocol
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `The worker's process` {
  private func statusFields(_ pid: pid_t) throws -> [String: String] {
    let text = String(decoding: try File.bytes(of: "/proc/\(pid)/status"), as: UTF8.self)
    var fields: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if let name = parts.first { fields[String(name)] = parts.count > 1 ? String(parts[1]) : "" }
    }
    return fields
  }

  private func greeted() throws -> WorkerUnderTest {
    let worker = try WorkerUnderTest()
    try worker.receive { _ in true }
    return worker
  }

  @Test func `has no new privileges, one thread, its own group, a closed mask and ignores only SIGPIPE and SIGXFSZ`()
    throws
  {
    let worker = try greeted()
    let fields = try statusFields(worker.pid)
    #expect(fields["NoNewPrivs:"] == "1")
    #expect(fields["Threads:"] == "1")
    #expect(fields["Umask:"] == "0077")
    #expect(fields["SigBlk:"] == "0000000000000000")
    let ignored = try #require(fields["SigIgn:"].flatMap { UInt64($0, radix: 16) })
    #expect(ignored & 0x7FFF_FFFF == 0x0100_1000, "32 and 33 are the C library's own")
    #expect(getpgid(worker.pid) == worker.pid)
  }

  @Test func `ends when the line is closed, amid a frame too`() throws {
    let idle = try greeted()
    #expect(try idle.end() == RELAY_EXIT_DONE)
    let waiting = try greeted()
    try waiting.sendBytes([9, 0, 0])
    #expect(try waiting.end() == RELAY_EXIT_DONE)
  }

  @Test func `doesn't start for somebody who isn't its parent`() throws {
    let worker = try WorkerUnderTest(hostPID: 1)
    #expect(try worker.receive { _ in true } == nil)
    #expect(try worker.exitStatus() == RELAY_EXIT_DONE)
  }

  @Test func `dies with its host, though the line stays open`() throws {
    let socket = try Channel.socketPair()
    defer { close(socket.ours) }
    let theirs = fcntl(socket.theirs, F_DUPFD_CLOEXEC, 20)
    close(socket.theirs)
    // A shell stands in for the host: it starts the worker and is killed.
    let host = try Command.spawn(["sh", "-c", "'\(Repository.worker)' $$ & wait"], [(theirs, 3)])
    close(theirs)
    var greeting = [UInt8](repeating: 0, count: 20)
    #expect(recv(socket.ours, &greeting, 20, Int32(MSG_WAITALL)) == 20)
    kill(host, SIGKILL)
    #expect(Command.wait(for: host) == -SIGKILL)
    var polled = pollfd(fd: socket.ours, events: Int16(POLLIN), revents: 0)
    #expect(poll(&polled, 1, 10_000) == 1)
    #expect(recv(socket.ours, &greeting, 20, 0) == 0, "the worker's end is closed: it is gone")
  }

  @Test func `refuses to be started by hand`() throws {
    let result = try Command.run([Repository.worker])
    #expect(result.status == RELAY_EXIT_SETUP && result.output.hasPrefix("relay-worker: "))
  }

  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer is linked into the worker"))
  func `links libc and libseccomp alone and exports nothing`() throws {
    let headers = try Command.run(["readelf", "-d", Repository.worker]).output
    let needed = headers.split(separator: "\n").filter { $0.contains("(NEEDED)") }
    #expect(needed.count == 2 && needed.contains { $0.contains("[libc.so.6]") })
    #expect(needed.contains { $0.contains("[libseccomp.so.2]") })
    let symbols = try Command.run(["nm", "-D", "--defined-only", Repository.worker])
    #expect(symbols.status == 0 && symbols.output.isEmpty)
  }

  /// A target compares and copies these texts, and there is nothing behind an absent one.
  @Test func `ends on a setting without a path`() throws {
    let worker = try greeted()
    try worker.send(.load(path: FixtureTarget.compile("probe"), pipelineID: "p", limits: WorkerLimits()), request: 1)
    let settings: [UInt8] = [1, 0, 0, 0, 255, 255, 255, 255, UInt8(RELAY_SETTING_NULL)]
    let rest: [UInt8] = [0, 0, 0, 0, 255, 255, 255, 255]
    let header = [
      UInt8(settings.count + rest.count), 0, 0, 0, UInt8(RELAY_FRAME_OPEN), 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
    ]
    try worker.sendBytes(header + settings + rest)
    #expect(try worker.receive { if case .opened = $0 { true } else { false } } == nil)
    #expect(try worker.exitStatus() == RELAY_EXIT_PROTOCOL)
  }

  @Test(
    arguments: [
      [1, 0, 0, 0, 77, 0, 0, 0], [255, 255, 255, 255, 1, 0, 0, 0], [4, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 4, 0, 0, 0],
      [0, 0, 0, 0, 6, 0, 0, 0],
    ] as [[UInt8]])
  func `ends on a frame that it can't understand`(start: [UInt8]) throws {
    let worker = try greeted()
    let length = start[0] == 255 ? 0 : Int(start[0])
    try worker.sendBytes(start + [UInt8](repeating: 1, count: 8 + length))
    #expect(try worker.receive { _ in false } == nil)
    #expect(try worker.exitStatus() == RELAY_EXIT_PROTOCOL)
  }
}
