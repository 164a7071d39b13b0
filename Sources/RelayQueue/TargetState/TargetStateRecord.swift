// SPDX-License-Identifier: Apache-2.0

/// How long a target's value lives (`RELAY_STATE_PIPELINE`, `RELAY_STATE_DELIVERY`).
package enum TargetStateScope: UInt8, Sendable, CaseIterable {
  case pipeline = 0
  /// Until the final verdict on a delivery.
  case delivery = 1
}

/// One entry of the file `target-state`: a head of 16 bytes with a checksum of its own, so that a length can be believed;
/// the key; the value; and a checksum over all of it.
struct TargetStateRecord {
  enum Kind: UInt8 {
    case put = 1
    case remove = 2
    case eraseDelivery = 3
  }

  static let headSize = 16
  static let tailSize = 8
  private static let mark: UInt8 = 0xA5

  var kind: Kind
  var scope: TargetStateScope
  var key: [UInt8]
  var value: [UInt8] = []

  func bytes() -> [UInt8] {
    var writer = LittleEndianWriter()
    writer.put(Self.mark)
    writer.put(kind.rawValue)
    writer.put(scope.rawValue)
    writer.put(UInt8(truncatingIfNeeded: key.count))
    writer.put(UInt32(truncatingIfNeeded: value.count))
    writer.put(CRC64.of(writer.bytes[...]))
    writer.bytes += key
    writer.bytes += value
    writer.put(CRC64.of(writer.bytes[...]))
    return writer.bytes
  }

  struct Head {
    var kind: Kind
    var scope: TargetStateScope
    var keyLength: Int
    var valueLength: Int
    /// Of the whole record, in bytes.
    var length: Int { headSize + keyLength + valueLength + tailSize }

    /// nil unless every bit is as it was written.
    init?(_ bytes: ArraySlice<UInt8>) {
      var reader = LittleEndianReader(bytes)
      guard bytes.count == headSize, let mark = reader.integer(UInt8.self), mark == TargetStateRecord.mark,
        let kind = reader.integer(UInt8.self).flatMap(Kind.init),
        let scope = reader.integer(UInt8.self).flatMap(TargetStateScope.init),
        let keyLength = reader.integer(UInt8.self), let valueLength = reader.integer(UInt32.self),
        valueLength <= TargetState.longestValue, reader.integer(UInt64.self) == CRC64.of(bytes.prefix(8))
      else { return nil }
      self.kind = kind
      self.scope = scope
      self.keyLength = Int(keyLength)
      self.valueLength = Int(valueLength)
    }
  }

  /// Reads exactly one record; nil when it is damaged.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let head = Head(bytes.prefix(Self.headSize)), head.length == bytes.count else { return nil }
    var tail = LittleEndianReader(bytes.suffix(Self.tailSize))
    guard tail.integer(UInt64.self) == CRC64.of(bytes.dropLast(Self.tailSize)) else { return nil }
    let body = bytes.dropFirst(Self.headSize).dropLast(Self.tailSize)
    self.init(
      kind: head.kind, scope: head.scope, key: Array(body.prefix(head.keyLength)),
      value: Array(body.dropFirst(head.keyLength)))
  }

  init(kind: Kind, scope: TargetStateScope, key: [UInt8], value: [UInt8] = []) {
    self.kind = kind
    self.scope = scope
    self.key = key
    self.value = value
  }
}
