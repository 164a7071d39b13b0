// SPDX-License-Identifier: Apache-2.0
import RelayWorkerProtocol
import TargetABI
import Testing

@testable import RelayDelivery

@Suite struct `Messages to a worker` {
  @Test func `have the protocol's header and fields in order`() throws {
    let bytes = try HostMessage.stateAnswer(code: RELAY_ABSENT, value: [9, 8]).encoded(requestID: 0x0102)
    #expect(bytes == [10, 0, 0, 0, 6, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0] + [1, 0, 0, 0, 2, 0, 0, 0, 9, 8])
  }

  @Test func `write each kind of setting as its kind says`() throws {
    let entries = [
      SettingEntry(path: "t", value: .text("é")), SettingEntry(path: "i", value: .integer(-2)),
      SettingEntry(path: "r", value: .real(1)), SettingEntry(path: "f", value: .flag(true)),
      SettingEntry(path: "l", value: .list(count: 3)), SettingEntry(path: "o", value: .object(count: 4)),
      SettingEntry(path: "n", value: .null), SettingEntry(path: "s", value: .secret),
      SettingEntry(path: "v", value: .template),
    ]
    let payload = try HostMessage.open(settings: entries, secrets: [], settingsJSON: []).encoded(requestID: 1)
      .dropFirst(16)
    var expected: [UInt8] = [9, 0, 0, 0]
    expected += [1, 0, 0, 0, 0x74, 1, 2, 0, 0, 0, 0xC3, 0xA9]
    expected += [1, 0, 0, 0, 0x69, 2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    expected += [1, 0, 0, 0, 0x72, 3, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]
    expected += [1, 0, 0, 0, 0x66, 4, 1]
    expected += [1, 0, 0, 0, 0x6C, 5, 3, 0, 0, 0, 0, 0, 0, 0]
    expected += [1, 0, 0, 0, 0x6F, 6, 4, 0, 0, 0, 0, 0, 0, 0]
    expected += [1, 0, 0, 0, 0x6E, 0]
    expected += [1, 0, 0, 0, 0x73, 7]
    expected += [1, 0, 0, 0, 0x76, 8]
    #expect(Array(payload) == expected + [0, 0, 0, 0] + [0, 0, 0, 0])
  }

  @Test func `refuse what doesn't fit a frame`() throws {
    let fits = HostMessage.stateAnswer(code: 0, value: [UInt8](repeating: 0, count: Int(RELAY_FRAME_MAXIMUM) - 8))
    #expect(try fits.encoded(requestID: 1).count == Int(RELAY_FRAME_MAXIMUM + RELAY_FRAME_HEADER))
    let large = HostMessage.stateAnswer(code: 0, value: [UInt8](repeating: 0, count: Int(RELAY_FRAME_MAXIMUM) - 7))
    #expect(throws: WireError.messageTooLong(bytes: Int(RELAY_FRAME_MAXIMUM) + 1)) { try large.encoded(requestID: 1) }
  }

  @Test func `refuse a digest of another length`() {
    let fields = DeliveryFields(
      length: 0, sha256: [1, 2], fileName: "a", mediaType: "b", pipelineID: "c", pipelineName: "d", artifactID: "e",
      deliveryID: "f", messageID: "g", createdUnixMilliseconds: 0, firstAttemptUnixMilliseconds: 0)
    let message = HostMessage.deliver(fields, overlay: [], verifiedChecksum: nil)
    #expect(throws: WireError.badDigest(bytes: 2)) { try message.encoded(requestID: 1) }
  }

  @Test func `say how many descriptors go along`() {
    #expect(HostMessage.check.descriptorCount == 1)
    #expect(HostMessage.scratchAnswer(code: RELAY_OK).descriptorCount == 1)
    #expect(HostMessage.scratchAnswer(code: RELAY_FAILED).descriptorCount == 0)
    #expect(HostMessage.leave.descriptorCount == 0)
  }

  @Test func `never print a secret`() {
    let secret = SecretEntry(path: "bearer", value: "hunter2hunter2")
    var dumped = ""
    dump(HostMessage.open(settings: [], secrets: [secret], settingsJSON: []), to: &dumped)
    #expect(!dumped.contains("hunter2"))
    #expect(!"\(secret) \(String(reflecting: [secret]))".contains("hunter2"))
  }
}

@Suite struct `The checksum of a part` {
  private func checksum(_ pieces: [[UInt8]]) -> UInt64 {
    var sum = PartChecksum()
    for piece in pieces { piece.withUnsafeBytes { sum.update($0) } }
    return sum.value
  }

  @Test func `is the same however the bytes were cut`() {
    var random = SplitMix(state: 5)
    for _ in 0..<300 {
      let bytes = (0..<Int(random.next() % 100)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int(random.next() % 20)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(checksum([bytes]) == checksum(pieces))
    }
  }

  @Test func `tells apart order, length and every single bit`() {
    let bytes = (0..<43).map { UInt8($0) }
    var seen: Set<UInt64> = [checksum([bytes])]
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        #expect(seen.insert(checksum([changed])).inserted)
      }
    }
    for count in 0..<43 { #expect(seen.insert(checksum([Array(bytes.prefix(count))])).inserted) }
    for zeros in 1..<40 { #expect(seen.insert(checksum([bytes, [UInt8](repeating: 0, count: zeros)])).inserted) }
    #expect(seen.insert(checksum([Array(bytes[8..<16]), Array(bytes[0..<8]), Array(bytes[16...])])).inserted)
  }
}
