// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

@Suite struct RawDeliveryTests {
  let scene: Scene

  init() throws {
    scene = try Scene()
  }

  @Test func `the bytes arrive as they are, with their length and who they are`() throws {
    let path = "/status/201/\(scene.mark)?body=thanks&location=/items/7"
    var delivery = FakeDelivery("{\"steps\": 1200}")
    delivery.pipelineName = "Schritte für Ada\n"
    delivery.attributes = [("aggregation", "day"), ("period", "today")]
    let verdict = scene.deliver(path, delivery, ["headers": ["X-Colour": "blue", "idempotency-key": "mine"]])
    #expect(verdict.outcome == .delivered)
    #expect(verdict.status == 201)
    #expect(verdict.message == "thanks")
    #expect(verdict.receipt == "/items/7")
    #expect(verdict.bytesSent == 15)
    let request = try #require(try scene.peer.requests(path).first)
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

  @Test(arguments: ["PUT", "PATCH"]) func `another method keeps its body`(method: String) throws {
    let path = "/status/200/\(scene.mark)"
    let delivery = FakeDelivery("abc")
    #expect(scene.deliver(path, delivery, ["method": .text(method)]).outcome == .delivered)
    let request = try #require(try scene.peer.requests(path).first)
    #expect(request.method == method)
    #expect(request.body == Data("abc".utf8))
    #expect(request["Expect"] == nil)
  }

  @Test func `an empty file is a request with length zero`() throws {
    let path = "/status/204/\(scene.mark)"
    #expect(scene.deliver(path, FakeDelivery("")).outcome == .delivered)
    #expect(try scene.peer.requests(path).first?["Content-Length"] == "0")
  }

  @Test func `a test is marked`() throws {
    let path = "/status/200/\(scene.mark)"
    var delivery = FakeDelivery("{}")
    delivery.isTest = true
    #expect(scene.deliver(path, delivery).outcome == .delivered)
    #expect(try scene.peer.requests(path).first?["X-Relay-Test"] == "1")
  }

  @Test func `headers that are turned off stay away`() throws {
    let path = "/status/200/\(scene.mark)"
    let settings: FakeValue = ["automationHeaders": false, "idempotencyHeader": ""]
    #expect(scene.deliver(path, FakeDelivery("{}"), settings).outcome == .delivered)
    let request = try #require(try scene.peer.requests(path).first)
    #expect(request.headers.allSatisfy { !$0[0].hasPrefix("automation-") && $0[0] != "session-id" })
    #expect(request["Idempotency-Key"] == nil)
  }

  @Test func `credentials and secret headers are sent`() throws {
    let path = "/status/200/\(scene.mark)"
    let bearer = scene.host(path, ["headers": ["X-Key": ""]], secrets: ["bearer": "t0ken"])
    #expect(bearer.deliver(HTTPTarget.self, FakeDelivery("{}")).outcome == .delivered)
    let basic = scene.host(path, ["basic": ["username": "ada"]], secrets: ["basic/password": "ö:x"])
    #expect(basic.deliver(HTTPTarget.self, FakeDelivery("{}")).outcome == .delivered)
    let requests = try scene.peer.requests(path)
    #expect(requests[0]["Authorization"] == "Bearer t0ken")
    #expect(requests[0]["X-Key"] == "")
    #expect(requests[1]["Authorization"] == "Basic " + Data("ada:ö:x".utf8).base64EncodedString())
  }

  @Test func `gzip is passed on as it is and judged alike`() throws {
    var delivery = FakeDelivery([0x1f, 0x8b, 8, 0, 1, 2, 3])
    delivery.contentEncoding = "gzip"
    let path = "/status/503/\(scene.mark)"
    #expect(scene.deliver(path, delivery).outcome == .retry)
    #expect(scene.deliver("/status/400/\(scene.mark)", delivery).outcome == .refused)
    let request = try #require(try scene.peer.requests(path).first)
    #expect(request["Content-Encoding"] == "gzip")
    #expect(request["Content-Length"] == "7")
    #expect(request["Transfer-Encoding"] == nil)
  }

  @Test func `a multipart body is a form with one file and the same bytes at each attempt`() throws {
    let path = "/status/200/\(scene.mark)"
    var delivery = FakeDelivery("a,b\n1,2\n")
    delivery.fileName = "Schlaf \"Mai\".csv"
    delivery.mediaType = "text/csv"
    let settings: FakeValue = ["body": "multipart", "field": "upload"]
    #expect(scene.deliver(path, delivery, settings).outcome == .delivered)
    delivery.attempt = 2
    #expect(scene.deliver(path, delivery, settings).outcome == .delivered)
    let requests = try scene.peer.requests(path)
    #expect(requests.count == 2)
    #expect(requests[0].body == requests[1].body)
    let type = try #require(requests[0]["Content-Type"])
    // Another implementation takes the form apart.
    let script = """
      import sys, base64, email.parser, email.policy
      head = b"Content-Type: " + sys.argv[1].encode() + b"\\r\\n\\r\\n"
      form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + base64.b64decode(sys.argv[2]))
      [part] = form.iter_parts()
      print(part.get_param("name", header="content-disposition"), part.get_content_type(), part.get_payload(decode=True))
      """
    let parsed = try Child.run(["python3", "-c", script, type, requests[0].body.base64EncodedString()])
    #expect(parsed.output == "upload text/csv b'a,b\\n1,2\\n'\n")
    #expect(String(decoding: requests[0].body, as: UTF8.self).contains("filename=\"Schlaf %22Mai%22.csv\""))
  }
}
