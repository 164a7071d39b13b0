// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import TargetKit
import TargetKitTesting
import Testing

/// Hands out a body's bytes through the delivery's receipt, in pieces of the size that is set.
private struct BodyReader: Target {
  static let manifest = "{}"
  private let piece: Int

  init(host: TargetKit.Host) throws(Verdict) { piece = Int(try host.integer("piece") ?? 1) }

  mutating func deliver(_ delivery: Delivery, host: TargetKit.Host) throws(Verdict) -> Verdict {
    var body = RequestBody(
      delivery, contentType: "x", encoding: .base64, before: Array("<".utf8), after: Array(">".utf8))
    _ = try readAll(&body, upTo: piece * 3)
    try body.rewind()
    let text = try readAll(&body, upTo: .max)
    guard body.length == UInt64(text.count) else { return .retry(.other, "\(body.length)") }
    return .delivered(receipt: String(decoding: text, as: UTF8.self))
  }

  private func readAll(_ body: inout RequestBody, upTo most: Int) throws(Verdict) -> [UInt8] {
    var all: [UInt8] = []
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 1)
    defer { room.deallocate() }
    while all.count < most, case let count = try body.read(into: room), count > 0 { all += room.prefix(count) }
    return all
  }
}

@Suite struct BodyTests {
  @Test(arguments: [1, 2, 3, 4, 5, 100, 70_000])
  func `base64 within a body is the same however it is read, and its length is known before`(piece: Int) {
    for count in [0, 1, 2, 3, 4, 5, 6, 47, 48, 49, 1000, 49_151, 49_152, 49_153, 120_001] where count < piece * 10_000 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      let expected = "<\(Data(bytes).base64EncodedString())>"
      for read in [1, 2, 5, 65_536] where count < read * 2000 {
        let host = FakeHost(settings: ["piece": .integer(Int64(piece))])
        host.largestRead = read
        let verdict = host.deliver(BodyReader.self, FakeDelivery(bytes))
        #expect(verdict.receipt == expected, "\(count) bytes, read by \(read): \(verdict.message)")
      }
    }
  }

  @Test func `a source that ends early makes no whole body`() {
    var delivery = FakeDelivery(FakeSource(zeros: 100_000))
    delivery.source.isDamaged = true
    let host = FakeHost(settings: ["piece": 1000])
    #expect(host.deliver(BodyReader.self, delivery).reason == .source)
  }
}
