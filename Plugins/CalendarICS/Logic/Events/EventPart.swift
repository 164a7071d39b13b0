// SPDX-License-Identifier: Apache-2.0
import TargetKit

/// A part that was read whole and whose events are all good.
struct EventPart {
  /// Largest part, in bytes; the manifest says the same.
  static let most = 16 << 20

  let bytes: [UInt8]
  /// How many events it lists.
  let count: Int
  /// A member that no event has.
  let ignored: String?

  init(_ delivery: Delivery, host: Host) throws(Verdict) {
    guard delivery.contentEncoding != "gzip" else { throw InputFault.packed.verdict }
    guard delivery.length <= Self.most else { throw InputFault.tooLarge.verdict }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(delivery.length))
    while let chunk = try delivery.source.next() { bytes += chunk }
    guard bytes.count == Int(delivery.length) else {
      throw .retry(.source, "the bytes to deliver are not as many as announced")
    }
    // A test of the pipeline may come without any content.
    try self.init(bytes.isEmpty && delivery.isTest ? Array(#"{"events": []}"#.utf8) : bytes)
  }

  /// Finds everything that is wrong before anything is written anywhere.
  init(_ bytes: [UInt8]) throws(Verdict) {
    var reader = EventReader(bytes)
    var keys: [String: Int] = [:]
    while let event = try reader.next() {
      if let first = keys.updateValue(reader.number, forKey: event.key) {
        throw InputFault.event(reader.number, key: event.key, .keyTwice(first: first)).verdict
      }
    }
    self.bytes = bytes
    count = reader.number
    ignored = reader.ignored
  }

  var events: EventReader { EventReader(bytes) }
}
