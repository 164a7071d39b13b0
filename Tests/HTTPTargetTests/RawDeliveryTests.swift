// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import TargetKit
import TargetKitTesting
import Testing

@Suite struct RawDeliveryTests {
  let peer: Peer
  /// Tells the requests of one test from those of others.
  let mark = UUID().uuidString

  init() throws {
    peer = try Peer.shared.get()
  }

  func host(_ path: String, _ settings: FakeValue = [:], secrets: [String: String] = [:]) -> FakeHost {
    var settings = settings
    settings.set("url", .text(peer.url(path)))
    return FakeHost(settings: settings, secrets: secrets)
  }

  @Test func `the bytes arrive as they are, with their length and who they are`() throws {
    let path = "/status/201/\(mark)?body=thanks&location=/items/7"
    var delivery = FakeDelivery("{\"steps\": 1200}")
    delivery.pipelineName = "Schritte für Ada\n"
    delivery.attributes = [("aggregation", "day"), ("period", "today")]
    let verdict = host(path, ["headers": ["X-Colour": "blue", "idempotency-key": "mine"]]).deliver(
      HTTPTarget.self, delivery)
    #expect(verdict.outcome == .delivered)
    #expect(verdict.status == 201)
    #expect(verdict.message == "thanks")
    #expect(verdict.receipt == "/items/7")
    #expect(verdict.bytesSent == 15)
    let request = try #require(try peer.requests(path).first)
    #expect(request.method == "POST")
    #expect(request.body == Data("{\"steps\": 1200}".utf8))
    #expect(request["Content-Length"] == "15")
    #expect(request["Transfer-Encoding"] == nil)
    #expect(request["Expect"] == nil)
    #expect(request["Content-Type"] == "application/json")
    #expect(request["Idempotency-Key"] == delivery.deliveryID)
    #expect(request["automation-name"] == "Schritte für Ada")
    #expect(request["automation-id"] == "steps")
    #expect(request["automation-aggregation"] == "day")
    #expect(request["automation-period"] == "today")
    #expect(request["session-id"]?.count == 36)
    #expect(request["X-Colour"] == "blue")
    #expect(request["X-Relay-Test"] == nil)
  }

  @Test func `an empty file is a request with length zero`() throws {
    let path = "/status/204/\(mark)"
    #expect(host(path).deliver(HTTPTarget.self, FakeDelivery("")).outcome == .delivered)
    #expect(try peer.requests(path).first?["Content-Length"] == "0")
  }

  @Test func `a test is marked`() throws {
    let path = "/status/200/\(mark)"
    var delivery = FakeDelivery("{}")
    delivery.isTest = true
    #expect(host(path).deliver(HTTPTarget.self, delivery).outcome == .delivered)
    #expect(try peer.requests(path).first?["X-Relay-Test"] == "1")
  }
}
