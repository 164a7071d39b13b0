// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTargetLogic
import RelayTestSupport
import TargetKit
import TargetKitTesting
import TestPrograms
import Testing

/// Signatures are verified by the openssl program over the bytes that the peer received.
@Suite struct SignatureTests {
  let scene: Scene
  let folder: String

  init() throws {
    scene = try Scene()
    folder = TemporaryFolder.shared.path("signature-\(scene.mark)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func openssl(_ bytes: Data, key: [UInt8]) throws -> String {
    let file = "\(folder)/\(UUID().uuidString)"
    try bytes.write(to: URL(filePath: file))
    let hex = key.map { String(format: "%02x", $0) }.joined()
    let run = try Child.run(["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(hex)", "-r", file])
    return String(run.output.prefix { $0 != " " })
  }

  @Test func `the signature covers the bytes that arrive, at each attempt`() throws {
    let path = "/status/503/\(scene.mark)"
    let host = scene.host(path, ["hmac": ["header": "X-Hub"]], secrets: ["hmac/secret": "swordfish"])
    for attempt: UInt32 in 1...3 {
      var delivery = FakeDelivery(FakeSource(zeros: 50_000))
      delivery.attempt = attempt
      #expect(host.deliver(HTTPTarget.self, delivery).outcome == .retry)
    }
    let requests = try scene.peer.requests(path)
    #expect(requests.count == 3)
    for request in requests {
      #expect(request["X-Hub"] == "sha256=\(try openssl(request.body, key: Array("swordfish".utf8)))")
    }
  }

  @Test(arguments: ["raw", "multipart"], ["sent", "uncompressed"])
  func `gzip is signed as sent or as what is in it`(body: String, over: String) throws {
    let path = "/status/200/\(scene.mark)"
    let plain = Data((0..<5000).flatMap { "line \($0)\n".utf8 })
    let file = "\(folder)/plain"
    try plain.write(to: URL(filePath: file))
    #expect(try Child.run(["gzip", "-k", "-n", file]).status == 0)
    var delivery = FakeDelivery(Array(try Data(contentsOf: URL(filePath: "\(file).gz"))))
    delivery.contentEncoding = "gzip"
    let settings: FakeValue = ["body": .text(body), "hmac": ["over": .text(over)]]
    let verdict = scene.deliver(path, delivery, settings, secrets: ["hmac/secret": "swordfish"])
    #expect(verdict.outcome == .delivered)
    let request = try #require(try scene.peer.requests(path).first)
    let signed = over == "sent" ? request.body : plain
    #expect(request["X-Signature"] == "sha256=\(try openssl(signed, key: Array("swordfish".utf8)))")
    #expect(request["Content-Encoding"] == (body == "raw" ? "gzip" : nil))
  }

  @Test func `bytes that only claim to be gzip are not signed`() {
    var delivery = FakeDelivery("plain text")
    delivery.contentEncoding = "gzip"
    let verdict = scene.deliver(
      "/status/200", delivery, ["hmac": ["over": "uncompressed"]], secrets: ["hmac/secret": "swordfish"])
    #expect(verdict.outcome == .retry)
    #expect(verdict.reason == .source)
  }

  @Test func `Standard Webhooks signs id, time and body`() throws {
    let path = "/status/200/\(scene.mark)"
    let key = (1...32).map { UInt8($0) }
    let delivery = FakeDelivery("{\"a\": 1}")
    let verdict = scene.deliver(
      path, delivery, [:], secrets: ["standardWebhooks/secret": "whsec_" + Data(key).base64EncodedString()])
    #expect(verdict.outcome == .delivered)
    let request = try #require(try scene.peer.requests(path).first)
    let time = try #require(request["webhook-timestamp"])
    #expect(abs((Double(time) ?? 0) - Date().timeIntervalSince1970) < 60)
    #expect(request["webhook-id"] == delivery.deliveryID)
    let hex = try openssl(Data("\(delivery.deliveryID).\(time).{\"a\": 1}".utf8), key: key)
    let signature = try #require(request["webhook-signature"])
    let code = try #require(Data(base64Encoded: String(signature.dropFirst(3))))
    #expect(signature.hasPrefix("v1,"))
    #expect(code.map { String(format: "%02x", $0) }.joined() == hex)
  }
}
