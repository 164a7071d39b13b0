// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayQueue
import RelaySystem
import Testing

@Suite struct `The delivery log` {
  private func record(_ number: Int64, message: String = "ok") -> DeliveryRecord {
    DeliveryRecord(
      at: WallTime(milliseconds: 1_764_000_000_000 + number), artifact: "a", part: number % 2 == 0 ? nil : number,
      deliveryID: "d", attempt: number, verdict: "delivered", status: 201, message: message, bytes: 5, milliseconds: 7,
      days: number % 3 == 0 ? ["2026-11-30"] : nil)
  }

  @Test func `keeps the last fifty, over restarts, in a file that stays small`() throws {
    try withPipeline { pipeline in
      for number in 1...450 {
        let log = number % 100 == 0 ? try reopened(pipeline).deliveryLog : pipeline.deliveryLog
        try log.append(record(Int64(number)))
      }
      #expect(try pipeline.deliveryLog.last() == (401...450).map { record($0) })
      #expect(try reopened(pipeline).deliveryLog.last(2) == [record(449), record(450)])
      let lines = try #require(try pipeline.folder.content(of: "deliveries.ndjson")).count { $0 == 10 }
      #expect((50...300).contains(lines))
    }
  }

  @Test func `a line has the members that the command line shows`() {
    #expect(
      String(decoding: record(3).line(), as: UTF8.self)
        == #"{"at":"2025-11-24T16:00:00.003Z","artifact":"a","part":3,"deliveryId":"d","attempt":3,"verdict":"delivered","#
        + #""status":201,"message":"ok","bytes":5,"milliseconds":7,"days":["2026-11-30"]}"#)
  }

  @Test func `passes over torn lines and junk`() throws {
    try withPipeline { pipeline in
      try pipeline.deliveryLog.append(record(1))
      var bytes = try #require(try pipeline.folder.content(of: "deliveries.ndjson"))
      bytes += Array("junk\n[]\n\n{\"at\": 1}\n".utf8) + [0, 255, 10] + bytes.prefix(30)
      try pipeline.folder.replace("deliveries.ndjson", with: bytes)
      let again = try reopened(pipeline)
      try again.deliveryLog.append(record(2))
      #expect(try again.deliveryLog.last() == [record(1), record(2)])
    }
  }

  @Test func `begins anew when it was deleted, and cuts a message without end`() throws {
    try withPipeline { pipeline in
      try pipeline.deliveryLog.append(record(1))
      try pipeline.folder.remove("deliveries.ndjson")
      try pipeline.deliveryLog.append(record(2, message: String(repeating: "<p>", count: 100_000)))
      let last = try pipeline.deliveryLog.last()
      #expect(last.count == 1 && last[0].message.count == 2000)
    }
  }
}
