// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@Suite struct LargeBodyTests {
  /// 300 MB unless RELAY_TEST_BODY says how many bytes.
  let length = ProcessInfo.processInfo.environment["RELAY_TEST_BODY"].flatMap { UInt64($0) } ?? 300_000_000

  @Test func `a large body is streamed in constant memory and waits for 100 no longer than a second`() throws {
    let scene = try Scene()
    let path = "/status/200/\(scene.mark)"
    let host = scene.host(path)
    let before = Self.residentKilobytes()
    var most = before
    host.beforeRead = { offset in if offset % (1 << 22) < 65_536 { most = max(most, Self.residentKilobytes()) } }
    let verdict = host.deliver(HTTPTarget.self, FakeDelivery(FakeSource(zeros: length)))
    #expect(verdict.outcome == .delivered)
    #expect(verdict.bytesSent == length)
    #expect(most - before < 64_000)
    #expect(host.progressed.last?.done == length)
    let request = try #require(try scene.peer.requests(path).first)
    #expect(request["Content-Length"] == "\(length)")
    #expect(request["Transfer-Encoding"] == nil)
    #expect(request["Expect"] == "100-continue")
    let expected = try Child.run(["sh", "-c", "head -c \(length) /dev/zero | sha256sum"])
    #expect(expected.output.hasPrefix(request.sha256))
  }

  @Test func `a refusal instead of 100 spares the body`() throws {
    let scene = try Scene()
    let verdict = scene.deliver("/early/413", FakeDelivery(FakeSource(zeros: 2 << 20)))
    #expect(verdict.outcome == .refused)
    #expect(verdict.bytesSent == 0)
    #expect(scene.deliver("/continue/200", FakeDelivery(FakeSource(zeros: 2 << 20))).outcome == .delivered)
  }

  private static func residentKilobytes() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }
}
