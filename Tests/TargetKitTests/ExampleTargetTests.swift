// SPDX-License-Identifier: Apache-2.0
import TargetKit
import TargetKitTesting
import Testing

/// A whole target, small enough to start from: it counts bytes and refuses more than its setting allows.
struct CountingTarget: CheckableTarget {
  static let manifest = #"{"id": "org.example.counting", "name": "Counting", "version": "1.0.0"}"#
  let most: Int64
  let token: String

  init(host: Host) throws(Verdict) {
    guard let token = try host.secret("token") else {
      throw .needsAttention(.credentials, "set the secret \"token\"")
    }
    self.token = token
    most = try host.integer("most") ?? 10
  }

  mutating func deliver(_ delivery: Delivery, host: Host) throws(Verdict) -> Verdict {
    guard delivery.length <= UInt64(clamping: most) else {
      return .refused(.tooLarge, status: 413, "at most \(most) bytes")
    }
    var sum = 0
    while let chunk = try delivery.source.next(upTo: 4) {
      if host.shouldStop { return .cancelled }
      sum += chunk.reduce(0) { $0 + Int($1) }
    }
    try host.state(.pipeline).put("last", "\(sum)")
    return .delivered(status: 200, message: "sum \(sum)", receipt: delivery.attribute("period"))
  }

  mutating func check(host: Host) throws(Verdict) -> Verdict { .delivered(message: token.isEmpty ? "" : "ready") }
}

@Suite struct ExampleTargetTests {
  let host = FakeHost(settings: ["most": 8], secrets: ["token": "swordfish"])

  @Test func `a target reads its bytes and its verdict reaches the host with message and receipt`() {
    var delivery = FakeDelivery([1, 2, 3, 4, 5])
    delivery.attributes = [("period", "today")]
    #expect(
      host.deliver(CountingTarget.self, delivery)
        == .delivered(status: 200, message: "sum 15", receipt: "today"))
    #expect(host.pipelineState["last"] == Array("15".utf8))
  }

  @Test func `a target that declines to open gives the verdict of its initializer`() {
    let verdict = FakeHost().deliver(CountingTarget.self, FakeDelivery("a"))
    #expect(verdict == .needsAttention(.credentials, "set the secret \"token\""))
  }

  @Test func `a refusal carries reason and status`() {
    let verdict = host.deliver(CountingTarget.self, FakeDelivery("123456789"))
    #expect(verdict == .refused(.tooLarge, status: 413, "at most 8 bytes"))
  }

  @Test func `damaged bytes end the delivery with a retry before the last chunk`() {
    var delivery = FakeDelivery("12345678")
    delivery.source.isDamaged = true
    let verdict = host.deliver(CountingTarget.self, delivery)
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .source)
    #expect(host.bytesRead == 4)
  }

  @Test func `a host that wants to stop is obeyed`() {
    host.stopWhen = { $0.bytesRead >= 4 }
    #expect(host.deliver(CountingTarget.self, FakeDelivery("12345678")) == .cancelled)
  }

  @Test func `state that cannot be saved is a retry`() {
    host.stateFails = true
    #expect(host.deliver(CountingTarget.self, FakeDelivery("1")).outcome == .retry)
  }

  @Test func `state beyond what the host keeps needs attention`() {
    host.stateIsFull = true
    #expect(host.deliver(CountingTarget.self, FakeDelivery("1")).outcome == .needsAttention)
  }

  @Test func `an open target is checked and described`() throws {
    #expect(try host.open(CountingTarget.self).check() == .delivered(message: "ready"))
    #expect(host.describe(CountingTarget.self) == CountingTarget.manifest)
  }
}
