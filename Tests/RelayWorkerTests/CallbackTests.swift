// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayTestSupport
import RelayWorkerProtocol
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `What the host offers a target` {
  private static let settings: [SettingEntry] = [
    SettingEntry(path: "text", value: .text("plain é")), SettingEntry(path: "number", value: .integer(-7)),
    SettingEntry(path: "real", value: .real(1.5)), SettingEntry(path: "flag", value: .flag(true)),
    SettingEntry(path: "list", value: .list(count: 2)), SettingEntry(path: "list/0", value: .text("a")),
    SettingEntry(path: "list/1", value: .text("b")), SettingEntry(path: "object", value: .object(count: 3)),
    SettingEntry(path: "object/a~1b", value: .text("slash")), SettingEntry(path: "object/password", value: .secret),
    SettingEntry(path: "object/key", value: .template), SettingEntry(path: "nothing", value: .null),
    SettingEntry(path: "rendered", value: .template), SettingEntry(path: "password", value: .secret),
  ]

  /// The facts that the probe wrote down in one delivery.
  private func facts() throws -> (lines: [String], result: Reported?, worker: WorkerUnderTest) {
    let worker = try WorkerUnderTest()
    try worker.send(
      .load(path: FixtureTarget.compile("probe"), pipelineID: "p", limits: WorkerLimits(openFiles: 64)), request: 1)
    let secrets = [
      SecretEntry(path: "password", value: "hunter22"), SecretEntry(path: "object/password", value: "hunter23"),
    ]
    try worker.send(
      .open(settings: Self.settings, secrets: secrets, settingsJSON: Array("{\"a\":1}".utf8)), request: 2)
    let overlay = [
      SettingEntry(path: "rendered", value: .text("for today")), SettingEntry(path: "object/key", value: .text("now")),
    ]
    try worker.deliver([1, 2, 3], overlay: overlay)
    let result = try worker.result()
    return (worker.logLines, result, worker)
  }

  @Test func `is its settings by path and kind`() throws {
    let lines = try facts().lines
    let expected = [
      "open text text=plain é", "open integer number=-7", "open text number!3", "open text real!3", "open flag flag=1",
      "open count list=2", "open text list/1=b", "open text list!3", "open count object=3", "open name object 0=a/b",
      "open name object 1=password", "open name object 2=key", "open text object/a~1b=slash", "open text nothing!1",
      "open text absent!1", "open count =9", "open name  0=text", "json={\"a\":1}",
    ]
    for fact in expected { #expect(lines.contains(fact), "\(fact)") }
  }

  @Test func `is a rendered setting during a delivery only`() throws {
    let lines = try facts().lines
    for fact in ["open text rendered!1", "open text object/key!1", "deliver text rendered=for today"] {
      #expect(lines.contains(fact), "\(fact)")
    }
    #expect(lines.contains("deliver text object/key=now"))
    #expect(lines.contains("deliver name object 2=key"), "the place in the order stays")
  }

  @Test func `is a secret through secret alone`() throws {
    let lines = try facts().lines
    #expect(lines.contains("open text password!2") && lines.contains("open text object/password!2"))
    #expect(
      lines.contains("open secret password=hunter22") && lines.contains("deliver secret object/password=hunter23"))
    #expect(!lines.contains { $0.hasPrefix("open secret text") })
  }

  @Test func `is all about the delivery`() throws {
    let lines = try facts().lines
    let fields = lines.filter { $0.hasPrefix("field") }
    #expect(
      fields == [
        "field=day.json", "field=application/json", "field!1", "field=steps", "field=Steps to the house",
        "field=artifact-1", "field=delivery-1", "field=<artifact-1@example.org>",
      ])
    #expect(lines.contains("numbers=232 3 2 3 4 1 -5 1700000000000 1 32"))
    #expect(lines.contains("attribute days=2026-01-01"))
    #expect(lines.contains("host size=184 abi=1 extension=none"))
  }

  @Test func `is state in two scopes, within limits`() throws {
    let (lines, _, worker) = try facts()
    let start = try #require(lines.firstIndex(of: "get none!1"))
    let stateFacts = lines[start...].filter { !$0.hasPrefix("the target") && !$0.hasPrefix("scratch") }
    #expect(
      stateFacts == [
        "get none!1", "put!0", "put empty!0", "put delivery!0", "get=W/1", "next=empty", "next=etag", "next=opened",
        "delete!0", "empty key!2", "long key!2", "bad key!2", "bad scope!2",
      ])
    #expect(worker.state == ["0/empty": [], "0/opened": Array("v".utf8), "1/offset": Array("9".utf8)])
    #expect(lines.contains("open delivery state!2") && lines.contains("open pipeline state!0"))
    #expect(lines.contains("open read=-1"))
  }

  @Test func `is a scratch file`() throws {
    #expect(try facts().lines.contains("scratch=abcd"))
  }

  @Test func `carries every field of the verdict back`() throws {
    let result = try #require(try facts().result)
    #expect(
      result.verdict
        == WireVerdict(
          code: RELAY_RETRY, reason: RELAY_REASON_THROTTLED, status: 429, retryAfterMilliseconds: 1500, bytesSent: 12,
          flags: UInt32(RELAY_MAYBE_DELIVERED), message: "come back", receipt: "r-1"))
  }

  @Test func `includes a check, if the target has one`() throws {
    for (fixture, code, verdict) in [("hostile", 0, RELAY_DELIVERED), ("probe", RELAY_ABSENT, RELAY_NONE)] {
      let worker = try WorkerUnderTest()
      try worker.start(FixtureTarget.compile(fixture), mode: "ok")
      let cancel = try Channel.pipe()
      try worker.send(.check, request: 5, descriptors: [cancel.read])
      let result = try #require(try worker.result())
      #expect(result.returnCode == code && result.verdict.code == verdict && result.deliveryID.isEmpty)
      #expect(worker.frames.last?.requestID == 5)
      close(cancel.read)
      close(cancel.write)
    }
  }
}
