// SPDX-License-Identifier: Apache-2.0

/// Where each value lies in the file, by scope and key in the order of bytes.
struct TargetStateIndex: Sendable {
  struct Entry: Sendable {
    var key: [UInt8]
    var offset: Int64
    /// Of the whole record.
    var length: Int
  }

  private var entries: [TargetStateScope: [Entry]] = [.pipeline: [], .delivery: []]
  /// Bytes of all records that still count.
  private(set) var liveBytes: Int64 = 0

  func all(_ scope: TargetStateScope) -> [Entry] { entries[scope] ?? [] }

  func find(_ scope: TargetStateScope, _ key: [UInt8]) -> Entry? {
    let all = all(scope)
    let place = Self.place(of: key, in: all)
    guard place < all.count, all[place].key == key else { return nil }
    return all[place]
  }

  func key(_ scope: TargetStateScope, after key: [UInt8]) -> [UInt8]? {
    let all = all(scope)
    var place = Self.place(of: key, in: all)
    if place < all.count, all[place].key == key { place += 1 }
    return place < all.count ? all[place].key : nil
  }

  mutating func apply(_ kind: TargetStateRecord.Kind, _ scope: TargetStateScope, _ entry: Entry) {
    switch kind {
    case .eraseDelivery:
      liveBytes -= all(.delivery).reduce(0) { $0 + Int64($1.length) }
      entries[.delivery] = []
    case .remove, .put:
      var all = entries.updateValue([], forKey: scope) ?? []
      let place = Self.place(of: entry.key, in: all)
      if place < all.count, all[place].key == entry.key {
        liveBytes -= Int64(all[place].length)
        all.remove(at: place)
      }
      if kind == .put {
        all.insert(entry, at: place)
        liveBytes += Int64(entry.length)
      }
      entries[scope] = all
    }
  }

  /// The first place whose key is not less.
  private static func place(of key: [UInt8], in all: [Entry]) -> Int {
    var low = 0
    var high = all.count
    while low < high {
      let middle = low + (high - low) / 2
      if all[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
