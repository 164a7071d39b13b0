// SPDX-License-Identifier: Apache-2.0
import TargetKit
import TargetKitTesting
import Testing

@testable import MailServiceTargetLogic

/// The target with a clock of the test's.
struct TimedTarget: Target {
  static let manifest = MailServiceTarget.manifest
  var target: MailServiceTarget
  var now: () -> Int64

  init(host: Host) throws(Verdict) {
    target = try MailServiceTarget(host: host)
    now = { 0 }
  }

  init(host: Host, now: @escaping () -> Int64) throws(Verdict) {
    target = try MailServiceTarget(host: host)
    self.now = now
  }

  mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    try target.deliver(delivery, host: host, now: now())
  }
}

/// Resend recognises a repeat for a day only.
@Suite struct RepeatWindowTests {
  final class Clock { var now: Int64 = 1_796_036_400 }

  let scene: Scene
  let clock = Clock()
  let session: FakeHost.Session<TimedTarget>

  init() throws {
    let clock = clock
    scene = try Scene(.resend)
    session = try scene.host.open { host throws(Verdict) in try TimedTarget(host: host, now: { clock.now }) }
  }

  @Test func `within it a repeat is harmless, after it the host is asked once`() throws {
    try scene.next(#"{"cut": "after"}"#)
    #expect(session.deliver(FakeDelivery("1")).maybeDelivered == false)
    clock.now += 24 * 3600
    let verdict = session.deliver(FakeDelivery("1"))
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered)
    #expect(verdict.message.contains("no longer recognises"))
    #expect(try scene.requests().count == 1)
    // Who asked for a retry all the same gets one.
    #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    #expect(try scene.mails().count == 1)
  }

  @Test func `it begins with the first attempt that may have arrived, also when later ones surely didn't`() throws {
    try scene.next(
      #"{"answer": [503, "", {}]}"#, #"{"cut": "within"}"#, #"{"answer": [503, "", {}]}"#, #"{"good": true}"#)
    #expect(session.deliver(FakeDelivery("1")).outcome == .retry)
    #expect(scene.host.deliveryState.isEmpty)
    clock.now += 100_000
    #expect(session.deliver(FakeDelivery("1")).outcome == .retry)
    clock.now += 22 * 3600
    #expect(session.deliver(FakeDelivery("1")).outcome == .retry)
    #expect(!scene.host.deliveryState.isEmpty)
    clock.now += 2 * 3600
    #expect(session.deliver(FakeDelivery("1")).maybeDelivered)
  }

  @Test func `it is on disk before anything is sent, and nothing is sent if it can't be`() throws {
    scene.host.stateFails = true
    let verdict = session.deliver(FakeDelivery("1"))
    #expect(verdict.outcome == .retry)
    #expect(try scene.requests().isEmpty)
    scene.host.stateFails = false
    // A worker that dies while it sends leaves the mark.
    scene.host.stopWhen = { host in host.bytesRead > 0 }
    _ = session.deliver(FakeDelivery("1"))
    #expect(scene.host.statePuts == ["1 sent-since"])
  }

  @Test func `nonsense in the state and a clock that went back ask once too often at most`() throws {
    for text in ["x", "", "\(Int64.max)", "\(Int64.min)", "1796036401"] {
      let scene = try Scene(.resend)
      #expect(scene.host.deliver(Planting.self, FakeDelivery(text)).outcome == .delivered)
      let clock = clock
      let session = try scene.host.open { host throws(Verdict) in try TimedTarget(host: host, now: { clock.now }) }
      #expect(session.deliver(FakeDelivery("1")).maybeDelivered, "\(text)")
      #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    }
  }

  /// Puts what it is given into the state that the target reads.
  struct Planting: Target {
    static let manifest = "{}"
    init(host: Host) throws(Verdict) {}
    mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
      try host.state(.delivery).put("sent-since", delivery.source.next() ?? [])
      return .delivered()
    }
  }

  @Test func `services that recognise nothing keep no mark`() throws {
    for service in [Service.sendgrid, .postmark] {
      let scene = try Scene(service)
      #expect(scene.deliver().outcome == .delivered)
      #expect(scene.host.statePuts.isEmpty)
    }
  }
}
