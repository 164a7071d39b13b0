// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalNames

@Suite struct LocalNameTests {
  @Test func `names that end in local are asked of the network, and no others`() {
    #expect(LocalName("HomeAssistant.local")?.labels == ["homeassistant", "local"])
    #expect(LocalName("a.b.local.")?.labels == ["a", "b", "local"])
    let others = [
      "", "local", ".local", "a..local", "local.example", "a.local.example", "127.0.0.1", "::1", "a.locale",
      "a b.local",
      "ä.local", "a.local..", String(repeating: "a", count: 64) + ".local",
      Array(repeating: "aaaaaaaaa", count: 30).joined(separator: ".") + ".local",
    ]
    for text in others { #expect(LocalName(text) == nil, "\(text)") }
  }

  @Test func `the question asks for both kinds of addresses`() throws {
    let name = try #require(LocalName("a.local"))
    let asked: [UInt8] = [1, 97, 5, 108, 111, 99, 97, 108, 0]
    #expect(
      MulticastMessage.question(name, id: 0x0102)
        == [1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0] + asked + [0, 1, 0, 1] + asked + [0, 28, 0, 1])
  }
}

@Suite struct MulticastMessageTests {
  static let name = LocalName("a.local")

  /// An answer to "a.local", number 7, with these records.
  static func answer(_ records: [UInt8]..., flags: [UInt8] = [0x84, 0]) -> [UInt8] {
    [0, 7] + flags + [0, 1, 0, UInt8(records.count), 0, 0, 0, 0]
      + [1, 65, 5, 76, 79, 67, 65, 76, 0, 0, 1, 0, 1] + records.joined()
  }

  /// Owned by the name in the question, or by another one.
  static func record(_ kind: UInt8, _ data: [UInt8], owner: [UInt8] = [0xc0, 12]) -> [UInt8] {
    owner + [0, kind, 0x80, 1, 0, 0, 0, 10, 0, UInt8(data.count)] + data
  }

  static let six: [UInt8] = [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]

  static func read(_ bytes: [UInt8]) throws -> [String]? {
    MulticastMessage.addresses(in: bytes, for: try #require(name), id: 7)
  }

  @Test func `addresses are read, those of IPv4 first, whatever else is in the answer`() throws {
    let linkLocal: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    let found = try Self.read(
      Self.answer(
        Self.record(28, Self.six), Self.record(28, linkLocal), Self.record(16, [2, 104, 105]),
        Self.record(1, [192, 0, 2, 9]), Self.record(1, [192, 0, 2, 10], owner: [1, 98, 0xc0, 14]),
        Self.record(1, [1, 2, 3])))
    #expect(found == ["192.0.2.9", "2001:db8:0:0:0:0:0:1"])
    #expect(try Self.read(Self.answer()) == [])
  }

  @Test func `what is no answer to the question is passed over`() throws {
    let good = Self.answer(Self.record(1, [192, 0, 2, 9]))
    #expect(try Self.read(good) == ["192.0.2.9"])
    #expect(MulticastMessage.addresses(in: good, for: try #require(Self.name), id: 8) == nil)
    #expect(MulticastMessage.addresses(in: good, for: try #require(LocalName("b.local")), id: 7) == [])
    #expect(try Self.read(Self.answer(Self.record(1, [192, 0, 2, 9]), flags: [0, 0])) == nil)
    #expect(try Self.read(Self.answer(Self.record(1, [192, 0, 2, 9]), flags: [0x84, 3])) == nil)
    // A name that leads in circles, one that leads nowhere, and a length of a kind that isn't used.
    for owner in [[0xc0, 25], [0xff, 0xff], [0x40, 1]] as [[UInt8]] {
      #expect(try Self.read(Self.answer(Self.record(1, [192, 0, 2, 9], owner: owner))) == nil)
    }
  }

  @Test func `no message ends the process`() throws {
    let good = Self.answer(Self.record(1, [192, 0, 2, 9]), Self.record(28, Self.six))
    for count in 0..<good.count { #expect(try Self.read(Array(good.prefix(count))) == nil, "\(count)") }
    for place in good.indices {
      for value: UInt8 in [0, 1, 0x3f, 0x40, 0xc0, 0xff] {
        var bytes = good
        bytes[place] = value
        _ = try Self.read(bytes)
      }
    }
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
      _ = try Self.read(bytes.count > 4 ? [0, 7, 0x84, 0] + bytes : bytes)
    }
  }
}
