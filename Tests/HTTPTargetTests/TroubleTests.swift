// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import TargetKit
import TargetKitTesting
import Testing

@Suite struct TroubleTests {
  let scene: Scene

  init() throws {
    scene = try Scene()
  }

  @Test(arguments: ["POST", "PUT"], [301, 302, 303, 307, 308])
  func `a redirect is never followed and shows where the address moved`(method: String, status: Int) throws {
    let goal = "/status/200/goal-\(scene.mark)"
    let verdict = scene.deliver(
      "/status/\(status)/\(scene.mark)?location=\(goal)", FakeDelivery("{}"), ["method": .text(method)])
    #expect(verdict.outcome == .needsAttention)
    #expect(verdict.status == Int32(status))
    #expect(verdict.message.contains(goal))
    #expect(try scene.peer.requests(goal).isEmpty)
  }

  @Test func `a refused connection and an unknown name are retries in which nothing was sent`() {
    for url in ["http://127.0.0.1:1/", "http://nobody.invalid/"] {
      let verdict = FakeHost(settings: ["url": .text(url)]).deliver(HTTPTarget.self, FakeDelivery("{}"))
      #expect(verdict.outcome == .retry)
      #expect(verdict.reason == .network)
      #expect(!verdict.maybeDelivered)
    }
  }

  @Test func `a reset within the body cannot have delivered`() {
    let large = FakeDelivery(FakeSource(zeros: 64 << 20))
    for path in ["/reset/head", "/reset/body"] {
      let verdict = scene.deliver(path, large)
      #expect(verdict.outcome == .retry)
      #expect(!verdict.maybeDelivered)
    }
  }

  @Test(arguments: ["/reset/answer", "/close/answer", "/garbage"])
  func `no proper answer after everything was sent may have delivered`(path: String) {
    let verdict = scene.deliver(path)
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered)
  }

  @Test func `an early 413 while sending is a refusal`() {
    let verdict = scene.deliver("/early/413?body=too+much", FakeDelivery(FakeSource(zeros: 32 << 20)))
    #expect(verdict.outcome == .refused)
    #expect(verdict.reason == .tooLarge)
    #expect(verdict.status == 413)
    #expect(verdict.message.contains("too much"))
    #expect(verdict.bytesSent < 32 << 20)
  }

  @Test func `an early success without the whole body is no proof`() {
    let verdict = scene.deliver("/early/200", FakeDelivery(FakeSource(zeros: 64 << 20)))
    #expect(verdict.outcome == .retry)
  }

  @Test func `a broken or endless answer body does not change what its head says`() {
    #expect(scene.deliver("/cut").outcome == .delivered)
    #expect(scene.deliver("/flood").outcome == .delivered)
    #expect(scene.deliver("/trickle").outcome == .delivered)
  }

  @Test func `stopping while the answer is awaited may have delivered`() throws {
    let host = scene.host("/stall/\(scene.mark)")
    host.settings.set("url", .text(scene.peer.url("/stall")))
    host.stopWhen = { $0.progressed.contains { $0.done == 2 } }
    let verdict = host.deliver(HTTPTarget.self, FakeDelivery("{}"))
    #expect(verdict.outcome == .retry)
    #expect(verdict.maybeDelivered)
  }

  @Test func `stopping within the body is cancelled`() {
    let host = scene.host("/slow-reader")
    host.stopWhen = { $0.bytesRead > 1 << 20 }
    #expect(host.deliver(HTTPTarget.self, FakeDelivery(FakeSource(zeros: 256 << 20))).outcome == .cancelled)
  }

  @Test func `damaged bytes are never completed`() throws {
    let path = "/status/200/\(scene.mark)"
    var delivery = FakeDelivery(FakeSource(zeros: 200_000))
    delivery.source.isDamaged = true
    let verdict = scene.deliver(path, delivery)
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .source)
    #expect(try scene.peer.requests(path).isEmpty)
  }

  @Test func `a kept connection that dies repeats only what the receiver can recognise`() throws {
    let path = "/die-second?\(scene.mark)"
    let session = try scene.host(path).open(HTTPTarget.self)
    #expect(session.deliver(FakeDelivery("1")).outcome == .delivered)
    var second = FakeDelivery("2")
    second.deliveryID = "5d1d2f52-6f5f-4a3c-b0b5-4b8c6e5f7a90"
    #expect(session.deliver(second).outcome == .delivered)
    let requests = try scene.peer.requests(path)
    #expect(requests.map(\.body) == ["1", "2", "2"].map { Data($0.utf8) })
    #expect(requests[1]["Idempotency-Key"] == second.deliveryID)
    #expect(requests[2]["Idempotency-Key"] == second.deliveryID)
    #expect(requests[0].connection == requests[1].connection)
  }

  @Test func `after 421 the next attempt has a new connection`() throws {
    let path = "/status/421/\(scene.mark)"
    let session = try scene.host(path).open(HTTPTarget.self)
    for _ in 1...3 { #expect(session.deliver(FakeDelivery("1")).outcome == .retry) }
    #expect(Set(try scene.peer.requests(path).map(\.connection)).count == 3)
    let kept = "/status/200/\(scene.mark)"
    let other = try scene.host(kept).open(HTTPTarget.self)
    for _ in 1...3 { #expect(other.deliver(FakeDelivery("1")).outcome == .delivered) }
    #expect(Set(try scene.peer.requests(kept).map(\.connection)).count == 1)
  }

  @Test func `a receiver without expectations gets the body without asking`() throws {
    let path = "/no-expectations?\(scene.mark)"
    #expect(scene.deliver(path, FakeDelivery(FakeSource(zeros: 2 << 20))).outcome == .delivered)
    let requests = try scene.peer.requests(path)
    #expect(requests.map { $0["Expect"] } == ["100-continue", nil])
    #expect(requests.last?.length == 2 << 20)
  }

  @Test func `without an idempotency header each POST has a connection of its own`() throws {
    let path = "/die-second?\(scene.mark)"
    let session = try scene.host(path, ["idempotencyHeader": ""]).open(HTTPTarget.self)
    for _ in 1...3 { #expect(session.deliver(FakeDelivery("1")).outcome == .delivered) }
    let requests = try scene.peer.requests(path)
    #expect(requests.count == 3)
    #expect(Set(requests.map(\.connection)).count == 3)
  }

  @Test func `five refusals in a row need attention, and a delivery ends the row`() throws {
    let host = scene.host("/status/422")
    let outcomes = (1...6).map { _ in host.deliver(HTTPTarget.self, FakeDelivery("{}")).outcome }
    #expect(outcomes == [.refused, .refused, .refused, .refused, .needsAttention, .refused])
    host.settings.set("url", .text(scene.peer.url("/status/200")))
    #expect(host.deliver(HTTPTarget.self, FakeDelivery("{}")).outcome == .delivered)
    #expect(host.pipelineState.isEmpty)
  }

  @Test func `a part with an address of its own that is missing is refused, not a stop`() throws {
    let host = FakeHost()
    let session = try host.open(HTTPTarget.self)
    host.settings = ["url": .text(scene.peer.url("/status/404"))]
    #expect(session.deliver(FakeDelivery("{}")).outcome == .refused)
    #expect(scene.deliver("/status/404").outcome == .needsAttention)
  }

  @Test func `a proxy is used when set, and the environment is not looked at`() throws {
    let path = "/status/200/\(scene.mark)"
    #expect(scene.deliver(path).outcome == .delivered)
    let host = FakeHost(settings: [
      "url": .text("http://receiver.invalid\(path)"), "proxy": .text(scene.peer.url("")),
    ])
    #expect(host.deliver(HTTPTarget.self, FakeDelivery("{}")).outcome == .delivered)
    #expect(try scene.peer.requests("http://receiver.invalid\(path)").count == 1)
  }

  @Test func `a check asks with HEAD, and any answer but a matter for a person is good`() throws {
    let path = "/status/405/\(scene.mark)"
    let host = scene.host(path, secrets: ["bearer": "t"])
    #expect(try host.open(HTTPTarget.self).check().outcome == .delivered)
    let request = try #require(try scene.peer.requests(path).first)
    #expect(request.method == "HEAD")
    #expect(request["Authorization"] == "Bearer t")
    #expect(try scene.host("/status/401").open(HTTPTarget.self).check().reason == .credentials)
    #expect(try scene.host("/status/302").open(HTTPTarget.self).check().outcome == .needsAttention)
    let closed = FakeHost(settings: ["url": "http://127.0.0.1:1/"])
    #expect(try closed.open(HTTPTarget.self).check().outcome == .retry)
  }
}
