// SPDX-License-Identifier: Apache-2.0

/// The question for a name's addresses and the answers to it, as DNS writes them (RFC 1035, section 4).
enum MulticastMessage {
  private enum Kind {
    static let a: UInt16 = 1
    static let aaaa: UInt16 = 28
  }
  private static let internet: UInt16 = 1
  /// Marks an answer that replaces older ones (RFC 6762, section 10.2).
  private static let flush: UInt16 = 0x8000
  /// More than any machine has addresses.
  private static let mostRecords = 64

  /// One message that asks for both kinds of addresses.
  static func question(_ name: LocalName, id: UInt16) -> [UInt8] {
    var bytes = pair(id) + [0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    for kind in [Kind.a, Kind.aaaa] {
      for label in name.labels { bytes += [UInt8(truncatingIfNeeded: label.utf8.count)] + Array(label.utf8) }
      bytes += [0] + pair(kind) + pair(internet)
    }
    return bytes
  }

  /// The addresses that a message gives for a name, those of IPv4 first; nil if it is no answer to this question.
  static func addresses(in bytes: [UInt8], for name: LocalName, id: UInt16) -> [String]? {
    var reader = MessageReader(bytes)
    guard reader.pair() == id, let flags = reader.pair(), flags & 0x8000 != 0, flags & 0x000f == 0,
      let questions = reader.pair(), let answers = reader.pair(), let authorities = reader.pair(),
      let additional = reader.pair()
    else { return nil }
    for _ in 0..<questions { guard reader.name() != nil, reader.skip(4) else { return nil } }
    var found: (v4: [String], v6: [String]) = ([], [])
    for _ in 0..<min(Int(answers) + Int(authorities) + Int(additional), mostRecords) {
      guard let owner = reader.name(), let kind = reader.pair(), let type = reader.pair(), reader.skip(4),
        let length = reader.pair(), let data = reader.bytes(Int(length))
      else { return nil }
      guard owner == name.labels, type & ~flush == internet else { continue }
      if kind == Kind.a, data.count == 4 { found.v4.append(data.map { "\($0)" }.joined(separator: ".")) }
      // An address of one link says nothing without the link.
      if kind == Kind.aaaa, data.count == 16, !(data.first == 0xfe && (data.dropFirst().first ?? 0) & 0xc0 == 0x80) {
        found.v6.append(text(ofIPv6: Array(data)))
      }
    }
    return found.v4 + found.v6
  }

  private static func pair(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xff)] }

  /// In eight groups, none left out.
  private static func text(ofIPv6 bytes: [UInt8]) -> String {
    stride(from: 0, to: bytes.count - 1, by: 2).map {
      String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
    }.joined(separator: ":")
  }
}

/// Reads a message front to back; nil past its end, and for names that lead in circles.
private struct MessageReader {
  private static let mostJumps = 32
  private let whole: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { whole = bytes }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= whole.count - place else { return nil }
    defer { place += count }
    return whole[place..<place + count]
  }

  mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

  mutating func pair() -> UInt16? {
    guard let two = bytes(2), let high = two.first, let low = two.last else { return nil }
    return UInt16(high) << 8 | UInt16(low)
  }

  /// Labels in lower case; a name may go on where another one stands already.
  mutating func name() -> [String]? {
    var labels: [String] = []
    var behind: Int?
    var jumps = 0
    defer { if let behind { place = behind } }
    while let length = bytes(1)?.first {
      switch length {
      case 0: return labels
      case 1...63:
        guard labels.count < 128, let label = bytes(Int(length)) else { return nil }
        labels.append(String(decoding: label, as: UTF8.self).lowercased())
      case 0xc0...0xff:
        guard let low = bytes(1)?.first, jumps < Self.mostJumps else { return nil }
        jumps += 1
        if behind == nil { behind = place }
        place = Int(length & 0x3f) << 8 | Int(low)
        guard place < whole.count else { return nil }
      default: return nil
      }
    }
    return nil
  }
}
